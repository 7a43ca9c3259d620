import {
  Composer,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  Scalar,
  type Document,
  type Node,
  type ParsedNode,
  type YAMLMap,
} from 'yaml';
import type { JsonValue } from '@gitops-reverser/kernel-api';
import { maxDepth } from './limits.js';
import { readPlainScalar } from './plain-scalar.js';
import { describeSyntaxError } from './syntax-errors.js';

/** What could be told of a document without trusting it. */
export interface IdentityText {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

export type FullReading =
  | { readonly state: 'read'; readonly value: JsonValue }
  | { readonly state: 'empty' }
  | { readonly state: 'non-editable'; readonly construct: string; readonly identity: IdentityText }
  | { readonly state: 'invalid'; readonly what: string; readonly offset: number };

/** Reads one document of any shape, slowly. Aliases are never expanded, nothing recurses before the depth is known. */
export function readFull(text: string, hasDirectives: boolean): FullReading {
  const parser = new Parser();
  const composer = new Composer({
    schema: 'failsafe',
    version: '1.2',
    uniqueKeys: false,
    merge: false,
    prettyErrors: false,
    strict: true,
    logLevel: 'silent',
    keepSourceTokens: false,
  });
  const tokens = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // Document and scalar also stand on the stack.
    if (parser.stack.length > maxDepth + 3) return tooDeep(parser.offset);
  }
  for (const token of parser.end()) tokens.push(token);
  const documents = [...composer.compose(tokens, true, text.length)];
  const document = documents[0];
  if (document === undefined) return { state: 'empty' };
  const error = documents.flatMap((each) => each.errors).sort((a, b) => a.pos[0] - b.pos[0])[0];
  if (error !== undefined) return { state: 'invalid', what: describeSyntaxError(error.code), offset: error.pos[0] };
  if (documents.length > 1)
    return { state: 'invalid', what: 'a second document starts without ---', offset: documents[1]?.range[0] ?? 0 };
  return readDocument(document, text, hasDirectives);
}

function tooDeep(offset: number): FullReading {
  return { state: 'invalid', what: `nested deeper than ${maxDepth}`, offset };
}

function readDocument(document: Document.Parsed<ParsedNode>, text: string, hasDirectives: boolean): FullReading {
  const root = document.contents;
  if (isAbsent(root)) return { state: 'empty' };
  const identity = (): IdentityText => identityText(root);
  if (hasDirectives) return { state: 'non-editable', construct: 'directive', identity: identity() };
  try {
    return { state: 'read', value: toValue(root, 1) };
  } catch (error) {
    if (error instanceof NonEditable)
      return { state: 'non-editable', construct: error.construct, identity: identity() };
    if (error instanceof Invalid)
      return { state: 'invalid', what: error.what, offset: Math.min(error.offset, text.length) };
    throw error;
  }
}

class NonEditable {
  readonly construct: string;
  constructor(construct: string) {
    this.construct = construct;
  }
}
class Invalid {
  readonly what: string;
  readonly offset: number;
  constructor(what: string, offset: number) {
    this.what = what;
    this.offset = offset;
  }
}

/** A document of comments and white space composes to an empty plain scalar without source. */
function isAbsent(node: ParsedNode | null): node is null {
  if (node === null) return true;
  return (
    isScalar(node) &&
    node.type === Scalar.PLAIN &&
    node.value === '' &&
    node.tag === undefined &&
    node.anchor === undefined
  );
}

const coreTag = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/;

function toValue(node: Node | null, depth: number): JsonValue {
  if (node === null) return null;
  if (isAlias(node)) throw new NonEditable('alias');
  const { anchor, tag } = node as { anchor?: string; tag?: string };
  if (anchor !== undefined) throw new NonEditable('anchor');
  if (tag !== undefined && !coreTag.test(tag)) throw new NonEditable('tag');
  if (isScalar(node)) return toScalar(node);
  if (depth > maxDepth) throw new Invalid(`nested deeper than ${maxDepth}`, node.range?.[0] ?? 0);
  if (isSeq(node)) return node.items.map((item) => toValue(item as Node | null, depth + 1));
  if (isMap(node)) return toFields(node, depth);
  throw new NonEditable('unknown node');
}

function toScalar(node: Scalar): JsonValue {
  const text = String(node.value ?? '');
  if (node.tag === 'tag:yaml.org,2002:str') return text;
  return node.tag !== undefined || node.type === Scalar.PLAIN ? readPlainScalar(text) : text;
}

function toFields(map: YAMLMap, depth: number): JsonValue {
  const fields = Object.create(null) as Record<string, JsonValue>;
  for (const pair of map.items) {
    const key = toKey(pair.key as Node | null);
    if (key in fields) throw new NonEditable('duplicate key');
    fields[key] = toValue(pair.value as Node | null, depth + 1);
  }
  return fields;
}

/** Keys become strings as in the appliers' conversion to JSON: `on` is "true", `010` is "8". */
function toKey(node: Node | null): string {
  if (node !== null && isScalar(node) && node.type === Scalar.PLAIN && node.value === '<<' && node.tag === undefined)
    throw new NonEditable('merge key');
  const key = node === null ? null : toValue(node, maxDepth);
  if (key === null || typeof key === 'object') throw new NonEditable('key that is no string');
  return String(key);
}

function identityText(root: Node | null): IdentityText {
  const metadata = field(root, 'metadata');
  const texts = {
    apiVersion: plainText(field(root, 'apiVersion')),
    kind: plainText(field(root, 'kind')),
    name: plainText(field(metadata, 'name')),
    namespace: plainText(field(metadata, 'namespace')),
  };
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined));
}

function field(node: Node | null | undefined, name: string): Node | null | undefined {
  if (node === null || node === undefined || !isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && key.value === name);
  return pair?.value as Node | null | undefined;
}

function plainText(node: Node | null | undefined): string | undefined {
  return node !== null && node !== undefined && isScalar(node) && typeof node.value === 'string'
    ? node.value
    : undefined;
}
