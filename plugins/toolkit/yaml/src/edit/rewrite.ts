import type { JsonObject } from '@gitops-reverser/kernel-api';
import { commentColumn, lineBreakOf, lineEnd, lineStart } from './lines.js';
import { readTree, type Node } from './tree.js';

interface Comment {
  /** Path of the entry it belongs to. */
  readonly path: string;
  readonly text: string;
  readonly isTrailing: boolean;
}

/**
 * The document in the one style, with the comments of the old one at the entries they belonged to; then without those inside,
 * should they not fit. What stands before the first key stays as it was.
 */
export function* rewriteWithComments(
  source: string,
  bodyStart: number,
  tree: Node | undefined,
  desired: JsonObject,
  encoded: string,
): Generator<string> {
  const lineBreak = lineBreakOf(source);
  const inFile = (text: string): string => (lineBreak === '\n' ? text : text.replaceAll('\n', lineBreak));
  let head = source.slice(0, bodyStart);
  // A comment may stand behind the separator, and so may content, which moves below it.
  const mark = head.endsWith('\n') ? null : /(?:^|\n)---([ \t]+#[^\n]*\n)?/.exec(source);
  if (mark !== null)
    head = mark[1] === undefined ? `${head.trimEnd()}${lineBreak}` : source.slice(0, mark.index + mark[0].length);
  if (head === '' && source.startsWith('\ufeff')) head = '\ufeff';
  const end = /(?:^|\n)(\.\.\.(?:[ \t][^\n]*)?\r?\n?)$/.exec(source)?.[1] ?? '';
  if (tree !== undefined) {
    const comments = commentsOf(source, tree);
    const lead = comments
      .filter(({ path }) => path === '')
      .map(({ text }) => `${text}\n`)
      .join('');
    yield head + inFile(lead + attach(encoded, readTree(encoded, desired), comments)) + end;
    yield head + inFile(lead + encoded) + end;
  }
  yield head + inFile(encoded) + end;
}

/** Entries by their path, with the line each stands on. */
function entryLines(text: string, root: Node): ReadonlyMap<number, string> {
  const paths = new Map<number, string>();
  const walk = (node: Node | undefined, path: string): void => {
    const note = (at: number, own: string): void => {
      const line = lineStart(text, at);
      if (!paths.has(line)) paths.set(line, own);
    };
    if (node?.kind === 'map' && !node.isFlow)
      for (const { key, keyStart, value } of node.pairs) {
        note(keyStart, `${path}\n${key}`);
        walk(value, `${path}\n${key}`);
      }
    if (node?.kind === 'list' && !node.isFlow)
      node.items.forEach(({ start, value }, at) => {
        note(start, `${path}\n#${at}`);
        walk(value, `${path}\n#${at}`);
      });
  };
  walk(root, '');
  return paths;
}

function commentsOf(source: string, root: Node): readonly Comment[] {
  const paths = entryLines(source, root);
  const starts = [...paths.keys()].sort((a, b) => a - b);
  const scalars = textRanges(root);
  const isInText = (at: number): boolean => scalars.some(({ start, end }) => at >= start && at < end);
  const comments: Comment[] = [];
  let last = '';
  for (let at = lineStart(source, 0); at < source.length; at = lineEnd(source, at)) {
    last = paths.get(at) ?? last;
    const column = commentColumn(source, at);
    const line = source.slice(at, lineEnd(source, at)).trim();
    if (column !== undefined) {
      if (isInText(at + column)) continue;
      const next = starts.find((start) => start > at);
      comments.push({ path: next === undefined ? last : (paths.get(next) ?? ''), text: line, isTrailing: false });
      continue;
    }
    const offset = trailingComment(source, at, isInText);
    if (offset !== undefined)
      comments.push({ path: last, text: source.slice(offset, lineEnd(source, at)).trim(), isTrailing: true });
  }
  return comments;
}

function trailingComment(source: string, line: number, isInText: (at: number) => boolean): number | undefined {
  const end = lineEnd(source, line);
  for (let at = source.indexOf('#', line); at !== -1 && at < end; at = source.indexOf('#', at + 1)) {
    const before = source.charCodeAt(at - 1);
    if ((before === 0x20 || before === 0x09) && !isInText(at)) return at;
  }
  return undefined;
}

/** Where a `#` is content. */
function textRanges(node: Node | undefined): readonly { readonly start: number; readonly end: number }[] {
  switch (node?.kind) {
    case 'scalar':
      return [node];
    case 'block':
      return [{ start: node.bodyStart, end: node.end }];
    case 'map':
      return node.pairs.flatMap(({ keyStart, slot, value }) => [{ start: keyStart, end: slot }, ...textRanges(value)]);
    case 'list':
      return node.items.flatMap(({ value }) => textRanges(value));
    default:
      return [];
  }
}

function attach(encoded: string, root: Node, comments: readonly Comment[]): string {
  const lines = entryLines(encoded, root);
  const known = new Set(lines.values());
  const byPath = new Map<string, Comment[]>();
  for (const comment of comments) {
    let path = comment.path;
    // What belonged to an entry that is gone stays with what held it.
    while (path !== '' && !known.has(path)) path = path.slice(0, path.lastIndexOf('\n'));
    if (path === '') continue;
    const isHome = path === comment.path;
    byPath.set(path, [...(byPath.get(path) ?? []), isHome ? comment : { ...comment, isTrailing: false }]);
  }
  let out = '';
  for (let at = 0; at < encoded.length; at = lineEnd(encoded, at)) {
    const own = byPath.get(lines.get(at) ?? '-') ?? [];
    const line = encoded.slice(at, lineEnd(encoded, at));
    const indent = /^ */.exec(line)?.[0] ?? '';
    for (const { text, isTrailing } of own) if (!isTrailing) out += `${indent}${text}\n`;
    const trailing = own.filter((each) => each.isTrailing).map(({ text }) => ` ${text}`);
    out += trailing.length === 0 ? line : `${line.slice(0, -1)}${trailing.join('')}\n`;
  }
  return out;
}
