import {
  ok,
  refuse,
  type JsonObject,
  type JsonValue,
  type ListMapKeys,
  type Result,
} from '@gitops-reverser/kernel-api';
import { readDocument } from '../documents.js';
import { encodeYaml } from '../encode.js';
import { splitDocuments, type SplitText } from '../split.js';
import { isMap, isSameIntent, rootPlace, type Place } from './intent.js';
import { lineBreakOf } from './lines.js';
import { rewriteWithComments } from './rewrite.js';
import { spliceDocument } from './splicer.js';
import { applySplices, OverlappingSplices } from './splices.js';
import { readTree, TreeMismatch, type Node } from './tree.js';

export interface EditOptions {
  /**
   * `metadata.finalizers` of the live object. Finalizers in Git are the author's: they stay while the object has them, and
   * none is ever added. Absent: not known, all stay.
   */
  readonly liveFinalizers?: readonly string[];
  /** Keys of the lists of a custom resource, from its schema. */
  readonly listKeys?: ListMapKeys;
  /** Where splices fail the document may be written anew. Absent: it may. */
  readonly mayRewrite?: boolean;
}

export interface Edited {
  readonly outcome: 'unchanged' | 'patched' | 'rewritten';
  /** The whole file. */
  readonly text: string;
  /** What takes the place of the document, its separator included. */
  readonly document: string;
}

export interface EditRefusal {
  readonly code: 'invalid-yaml' | 'non-editable' | 'encrypted' | 'unrepresentable-value' | 'edit-not-verified';
  /** One line without content of the document; to follow what names the object. */
  readonly message: string;
}

/**
 * Makes one document of a file mean `desired` and touches nothing else (chapter 20, 6): splices in the document's own style,
 * read again before they count. When that fails the document is written anew with its comments; when that fails too, refused.
 */
export function editDocument(
  file: SplitText,
  index: number,
  desired: JsonObject,
  options: EditOptions = {},
): Result<Edited, EditRefusal> {
  const mark = markBehindSeparator(file, index);
  if (mark === undefined) return edit(file, index, desired, options);
  // To the parser it is content; an empty line in its place is not, and is as long.
  const edited = edit({ ...file, text: withCharacter(file.text, mark, '\n') }, index, desired, options);
  if (!edited.ok) return edited;
  const { outcome, text, document } = edited.value;
  return ok({
    outcome,
    text: withCharacter(text, mark, '\ufeff'),
    document: withCharacter(document, mark - (file.pieces[index]?.start ?? 0), '\ufeff'),
  });
}

/** Where a byte order mark stands between a separator and its document. */
function markBehindSeparator({ text, pieces }: SplitText, index: number): number | undefined {
  const piece = pieces[index];
  if (piece === undefined || piece.bodyStart === piece.start) return undefined;
  return text.charCodeAt(piece.bodyStart - 1) === 0xfeff ? piece.bodyStart - 1 : undefined;
}

const withCharacter = (text: string, at: number, character: string): string =>
  text.slice(0, at) + character + text.slice(at + 1);

function edit(file: SplitText, index: number, desired: JsonObject, options: EditOptions): Result<Edited, EditRefusal> {
  const piece = file.pieces[index];
  if (piece === undefined) return refuse({ code: 'invalid-yaml', message: `there is no document ${index}` });
  const reading = readDocument(file, index);
  switch (reading.state) {
    case 'invalid':
      return refuse({ code: 'invalid-yaml', message: reading.problem.message });
    case 'non-editable':
      return refuse({
        code: 'non-editable',
        message: `the document holds ${article(reading.construct)}, which no edit may touch`,
      });
    case 'empty':
      return refuse({ code: 'invalid-yaml', message: 'the document is empty' });
    case 'read':
  }
  const { value } = reading;
  if (isMap(value) && isMap(value['sops'])) return refuse({ code: 'encrypted', message: 'the document is encrypted' });
  const wanted = withAuthorsFinalizers(value, desired, options.liveFinalizers);
  const place = rootPlace(wanted);
  if (isSameIntent(value, wanted, place))
    return ok({ outcome: 'unchanged', text: file.text, document: file.text.slice(piece.start, piece.end) });

  const own = file.text.slice(piece.start, piece.end);
  const before = file.text.slice(0, piece.start);
  const after = file.text.slice(piece.end);
  const check = new Verifier(own, after === '', piece.bodyStart > piece.start, wanted, place);
  // Edits deal in whole lines; the check takes the last end away again.
  const source = own.endsWith('\n') ? own : own + lineBreakOf(own);
  const tree = treeOf(source, value);
  const patched = check.accepted(
    tree === undefined ? undefined : splice(source, tree, wanted, place, options.listKeys),
  );
  if (patched !== undefined) return ok({ outcome: 'patched', text: before + patched + after, document: patched });

  const encoded = encodeYaml(wanted);
  if (!encoded.ok) return refuse({ code: 'unrepresentable-value', message: encoded.error.message });
  if (options.mayRewrite === false) return notVerified();
  for (const rewritten of rewriteWithComments(source, piece.bodyStart - piece.start, tree, wanted, encoded.value)) {
    const text = check.accepted(rewritten);
    if (text !== undefined) return ok({ outcome: 'rewritten', text: before + text + after, document: text });
  }
  return notVerified();
}

const notVerified = (): Result<never, EditRefusal> =>
  refuse({ code: 'edit-not-verified', message: 'no edit of the document reads back as the object' });

const article = (construct: string): string => (/^[aeiou]/.test(construct) ? `an ${construct}` : `a ${construct}`);

function treeOf(source: string, value: JsonValue): Node | undefined {
  try {
    return readTree(source, value);
  } catch (error) {
    if (error instanceof TreeMismatch) return undefined;
    throw error;
  }
}

function splice(
  source: string,
  tree: Node,
  wanted: JsonObject,
  place: Place,
  listKeys: ListMapKeys | undefined,
): string | undefined {
  try {
    const splices = spliceDocument(source, tree, wanted, place, listKeys);
    return splices === undefined ? undefined : applySplices(source, splices);
  } catch (error) {
    if (error instanceof OverlappingSplices) return undefined;
    throw error;
  }
}

/** Holds a result against the object: it must be one document, where the old one was, and mean the same. */
class Verifier {
  private readonly source: string;
  private readonly lineBreak: string;
  private readonly isOpenEnd: boolean;
  private readonly isLast: boolean;
  private readonly hasMarker: boolean;
  private readonly wanted: JsonObject;
  private readonly place: Place;

  constructor(source: string, isLast: boolean, hasMarker: boolean, wanted: JsonObject, place: Place) {
    this.source = source;
    this.lineBreak = lineBreakOf(source);
    this.isOpenEnd = !source.endsWith('\n');
    this.isLast = isLast;
    this.hasMarker = hasMarker;
    this.wanted = wanted;
    this.place = place;
  }

  /** The text that passed; a missing end of the last line stays missing if it can. */
  accepted(text: string | undefined): string | undefined {
    if (text === undefined) return undefined;
    if (this.isOpenEnd && text.endsWith(this.lineBreak)) {
      const open = text.slice(0, -this.lineBreak.length);
      const isAsClear = !isOpenBlock(open) || isOpenBlock(this.source);
      if (isAsClear && this.isRight(open)) return open;
    }
    if (this.isRight(text)) return text;
    // A text that keeps its blank lines needs the end of its last one.
    const closed = text + this.lineBreak;
    return this.isOpenEnd && this.isRight(closed) ? closed : undefined;
  }

  private isRight(text: string): boolean {
    if (!this.isLast && !text.endsWith('\n')) return false;
    const split = splitDocuments(text);
    const piece = split.pieces[0];
    if (piece === undefined || split.pieces.length !== 1 || split.tail.start !== text.length) return false;
    if (piece.bodyStart > piece.start !== this.hasMarker) return false;
    const reading = readDocument(split, 0);
    return reading.state === 'read' && isSameIntent(reading.value, this.wanted, this.place);
  }
}

/**
 * Whether the file breaks off within a block that stands for a text with a line feed at its end. `kubectl` supplies the missing one,
 * Kustomize does not: to them it is not the same text.
 */
function isOpenBlock(text: string): boolean {
  const split = splitDocuments(text);
  const reading = split.pieces.length === 1 ? readDocument(split, 0) : undefined;
  if (reading?.state !== 'read') return false;
  const closed = text + lineBreakOf(text);
  let last = treeOf(closed, reading.value);
  while (last?.kind === 'map' || last?.kind === 'list')
    last = last.isFlow ? undefined : (last.kind === 'map' ? last.pairs : last.items).at(-1)?.value;
  return last?.kind === 'block' && last.value.endsWith('\n') && last.blankEnd >= closed.length;
}

/** Finalizers are never written, and what an author wrote stays while it is live (chapter 20, 3.6). */
function withAuthorsFinalizers(git: JsonValue, desired: JsonObject, live: readonly string[] | undefined): JsonObject {
  const written = isMap(git) && isMap(git['metadata']) ? git['metadata']['finalizers'] : undefined;
  const metadata = desired['metadata'];
  if (!Array.isArray(written) || !isMap(metadata) || Object.hasOwn(metadata, 'finalizers')) return desired;
  const kept = (written as readonly JsonValue[]).filter((each) => live === undefined || live.includes(String(each)));
  if (kept.length === 0 && written.length > 0) return desired;
  return withField(desired, 'metadata', withField(metadata, 'finalizers', kept));
}

function withField(object: JsonObject, key: string, value: JsonValue): JsonObject {
  const copy = Object.assign(Object.create(null) as Record<string, JsonValue>, object);
  copy[key] = value;
  return copy;
}
