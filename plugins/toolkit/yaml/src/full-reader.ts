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
import { maxDepth, maxLexemes } from './limits.js';
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

const enoughErrors = 20;

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
  let errors = 0;
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > maxLexemes) return tooLarge(parser.offset);
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === 'error') errors += 1;
    }
    // Document and scalar also stand on the stack.
    if (parser.stack.length > maxDepth + 3) return tooDeep(parser.offset);
    // Nothing good follows; a file of nothing but errors would take minutes.
    if (errors > enoughErrors) break;
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

function tooLarge(offset: number): FullReading {
  return { state: 'invalid', what: `one document of more than ${maxLexemes} marks, words and line ends`, offset };
}

function readDocument(document: Document.Parsed<ParsedNode>, text: string, hasDirectives: boolean): FullReading {
  const root = document.contents;
  if (isAbsent(root)) return { state: 'empty' };
  const identity = (): IdentityText => identityText(root);
  if (hasDirectives) return { state: 'non-editable', construct: 'directive', identity: identity() };
  if (foreignBreak.test(text))
    return { state: 'non-editable', construct: 'line break that is neither LF nor CRLF', identity: identity() };
  try {
    return { state: 'read', value: toValue(root, text, 1) };
  } catch (error) {
    if (error instanceof NonEditable)
      return { state: 'non-editable', construct: error.construct, identity: identity() };
    if (error instanceof Invalid)
      return { state: 'invalid', what: error.what, offset: Math.min(error.offset, text.length) };
    throw error;
  }
}

/** The appliers' reader ends a line at a carriage return and at NEL, YAML 1.2 does not: nobody can say what was meant. */
const foreignBreak = /\r(?!\n)|\u0085/;

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

const coreTag = /^tag:yaml\.org,2002:(?<name>str|int|float|bool|null|map|seq)$/;

function toValue(node: Node | null, text: string, depth: number): JsonValue {
  if (node === null) return null;
  if (isAlias(node)) throw new NonEditable('alias');
  const { anchor, tag } = node as { anchor?: string; tag?: string };
  if (anchor !== undefined) throw new NonEditable('anchor');
  if (tag !== undefined && !coreTag.test(tag)) throw new NonEditable('tag');
  if (isScalar(node)) return toScalar(node, text);
  if (depth > maxDepth) throw new Invalid(`nested deeper than ${maxDepth}`, node.range?.[0] ?? 0);
  if (isSeq(node)) return node.items.map((item) => toValue(item as Node | null, text, depth + 1));
  if (isMap(node)) return toFields(node, text, depth);
  throw new NonEditable('unknown node');
}

function toScalar(node: Scalar, text: string): JsonValue {
  const value = withBlankEnd(String(node.value ?? ''), node, text);
  const tag = coreTag.exec(node.tag ?? '')?.groups?.['name'];
  if (tag === undefined) return node.type === Scalar.PLAIN ? readPlainScalar(value) : value;
  if (tag === 'str') return value;
  const read = readPlainScalar(value);
  // The appliers refuse a value that is not what its tag says.
  if (!isOfTag(read, tag)) throw new NonEditable('tag');
  return read;
}

function isOfTag(value: JsonValue, tag: string): boolean {
  switch (tag) {
    case 'int':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'float':
      return typeof value === 'bigint' || typeof value === 'number';
    case 'bool':
      return typeof value === 'boolean';
    default:
      return tag === 'null' && value === null;
  }
}

const namedIndent = /^[|>](?:[1-9]-?|-[1-9])[ \t#\r\n]/;

/**
 * Blank lines at the end that reach further in than an indentation indicator says are content. The library measures them
 * by the first line instead and gives them away.
 */
function withBlankEnd(value: string, { type, range }: Scalar, text: string): string {
  if ((type !== Scalar.BLOCK_LITERAL && type !== Scalar.BLOCK_FOLDED) || !range) return value;
  const [start, end] = range;
  const source = text.slice(start, end);
  if (!namedIndent.test(source)) return value;
  const first = /^ *(?=[^ \r\n])/m.exec(source.slice(source.indexOf('\n') + 1));
  if (first === null) return value;
  const column = first[0].length - (/^ *(?=[^ \n])/m.exec(value)?.[0].length ?? 0);
  const blanks = /(?: *\r?\n)*(?: +$)?/y;
  blanks.lastIndex = end;
  const lines = (blanks.exec(text)?.[0] ?? '').split(/\r?\n/);
  while (lines.length > 0 && (lines.at(-1)?.length ?? 0) <= column) lines.pop();
  if (lines.length === 0) return value;
  const isStripped = /-/.test(source.slice(0, 3));
  const body = isStripped ? `${value}\n` : value;
  return `${body}${lines.map((line) => line.slice(column)).join('\n')}${isStripped ? '' : '\n'}`;
}

function toFields(map: YAMLMap, text: string, depth: number): JsonValue {
  const fields = Object.create(null) as Record<string, JsonValue>;
  for (const pair of map.items) {
    const key = toKey(pair.key as Node | null, text);
    if (key in fields) throw new NonEditable('duplicate key');
    fields[key] = toValue(pair.value as Node | null, text, depth + 1);
  }
  return fields;
}

/** Keys become strings as in the appliers' conversion to JSON: `on` is "true", `010` is "8". */
function toKey(node: Node | null, text: string): string {
  if (node !== null && isScalar(node) && node.type === Scalar.PLAIN && node.value === '<<' && node.tag === undefined)
    throw new NonEditable('merge key');
  const key = node === null ? null : toValue(node, text, maxDepth);
  if (key === null || typeof key === 'object' || !hasOneSpelling(key)) throw new NonEditable('key that is no string');
  return String(key);
}

/** The appliers write a number that is a key in a notation of their own, rounded to a few digits, or refuse it. */
function hasOneSpelling(key: string | number | bigint | boolean): boolean {
  if (typeof key === 'bigint') return BigInt.asIntN(64, key) === key;
  if (typeof key !== 'number') return true;
  return Number.isSafeInteger(key) ? !Object.is(key, -0) : /^-?\d{1,3}\.\d{1,3}$/.test(String(key));
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
