import type { JsonValue } from '@gitops-reverser/kernel-api';
import { maxDepth } from './limits.js';
import { LineCursor, unusual } from './line-cursor.js';
import { readPlainScalar } from './plain-scalar.js';

/**
 * Reads the part of YAML that nearly every manifest keeps to: block maps and lists, one-line plain and quoted scalars,
 * literal blocks, `{}` and `[]`, comments. It is ten times faster than the full parser and never guesses: anything else,
 * malformed text included, is left to that parser.
 *
 * @returns `undefined` when the text is outside the subset
 */
export function readSimple(text: string, from: number, to: number): { readonly value: JsonValue } | undefined {
  try {
    return { value: new SimpleReader(text, from, to).document() };
  } catch (error) {
    if (error === unusual) return undefined;
    throw error;
  }
}

/** Characters that only the full parser may judge; a carriage return and a BOM among them. */
const unusualCharacter = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;
export const hasUnusualCharacter = (text: string): boolean => unusualCharacter.test(text);

const plainKey = /[A-Za-z0-9_.\/$][A-Za-z0-9_.\/$@+~*-]*(?=:(?:[ \n]|$))/y;
const doubleQuoted = /"(?:[^"\\\n\t]|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*"/y;
const singleQuoted = /'(?:[^'\n\t]|'')*'/y;
/** Ends where brackets let it end; with a blank or anything odd inside it is left to the full parser. */
const flowPlain =
  /(?:[A-Za-z0-9_.\/$]|-(?=[A-Za-z0-9.-]))(?:[A-Za-z0-9_.\/$@+~*=%-]|:(?=[A-Za-z0-9_.\/]))*(?= *[,\]}]|: )/y;
const literalHeader = /\|([1-9]?)([+-]?)(?=\n)/y;
const plainInside = /: |:$|\t/;
const longestKey = 1000;

type Fields = Record<string, JsonValue>;

class SimpleReader {
  private readonly text: string;
  private readonly to: number;
  private readonly line: LineCursor;

  constructor(text: string, from: number, to: number) {
    this.text = text;
    this.to = to;
    this.line = new LineCursor(text, from, to);
  }

  document(): JsonValue {
    this.line.advance();
    if (this.line.column !== 0) throw unusual;
    const value = this.line.isDash(this.line.at) ? this.list(0, 1) : this.map(0, 1);
    if (!this.line.isAtEnd) throw unusual;
    return value;
  }

  private map(column: number, depth: number): JsonValue {
    if (depth > maxDepth) throw unusual;
    const map = Object.create(null) as Fields;
    for (;;) {
      const key = this.key();
      if (key in map) throw unusual;
      map[key] = this.valueAfter(column, depth, true);
      if (this.line.column < column) return map;
      if (this.line.column > column || this.line.isDash(this.line.at)) throw unusual;
    }
  }

  private list(column: number, depth: number): JsonValue {
    if (depth > maxDepth) throw unusual;
    const list: JsonValue[] = [];
    for (;;) {
      this.line.at += 1;
      list.push(this.item(column, depth));
      if (this.line.column < column) return list;
      if (this.line.column > column) throw unusual;
      // A list that lies flush with its key ends at the next key.
      if (!this.line.isDash(this.line.at)) return list;
    }
  }

  /** Stands behind the dash. A collection may begin on the same line. */
  private item(column: number, depth: number): JsonValue {
    const at = this.line.skipSpaces(this.line.at);
    const inner = column + 1 + (at - this.line.at);
    if (at > this.line.at && at < this.to) {
      if (this.line.isDash(at)) {
        this.line.at = at;
        return this.list(inner, depth + 1);
      }
      if (this.isKeyAt(at)) {
        this.line.at = at;
        return this.map(inner, depth + 1);
      }
    }
    return this.valueAfter(column, depth, false);
  }

  /** Whether an implicit key starts here; does not move. */
  private isKeyAt(at: number): boolean {
    const code = this.text.charCodeAt(at);
    if (code !== 0x22 && code !== 0x27) return this.end(plainKey, at) !== -1;
    const end = this.end(code === 0x22 ? doubleQuoted : singleQuoted, at);
    return end !== -1 && this.text.charCodeAt(end) === 0x3a;
  }

  /** Reads a key and its colon. */
  private key(): string {
    const { at } = this.line;
    const code = this.text.charCodeAt(at);
    let key: string;
    let end: number;
    if (code === 0x22 || code === 0x27) {
      end = this.end(code === 0x22 ? doubleQuoted : singleQuoted, at);
      if (end === -1) throw unusual;
      key = this.unquote(at, end);
    } else {
      end = this.end(plainKey, at);
      if (end === -1) throw unusual;
      const plain = readPlainScalar(this.text.slice(at, end));
      if (!isKeyWord(plain)) throw unusual;
      key = String(plain);
    }
    if (end - at > longestKey || this.text.charCodeAt(end) !== 0x3a) throw unusual;
    const after = this.text.charCodeAt(end + 1);
    if (end + 1 < this.to && after !== 0x20 && after !== 0x0a) throw unusual;
    this.line.at = end + 1;
    return key;
  }

  private end(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.test(this.text) && pattern.lastIndex <= this.to ? pattern.lastIndex : -1;
  }

  private unquote(from: number, to: number): string {
    const inner = this.text.slice(from + 1, to - 1);
    if (this.text.charCodeAt(from) === 0x27) return inner.includes("'") ? inner.replaceAll("''", "'") : inner;
    return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
  }

  /** What follows a key's colon or a dash, on the same line or below; moves to the next line with content. */
  private valueAfter(column: number, depth: number, isOfKey: boolean): JsonValue {
    const at = this.line.skipSpaces(this.line.at);
    const code = at < this.to ? this.text.charCodeAt(at) : 0x0a;
    if (code === 0x0a || (code === 0x23 && at > this.line.at))
      return this.below(this.line.lineEnd(at), column, depth, isOfKey);
    if (code === 0x7c) return this.literal(at, column);
    let value: JsonValue;
    if (code === 0x22 || code === 0x27) {
      const end = this.end(code === 0x22 ? doubleQuoted : singleQuoted, at);
      if (end === -1) throw unusual;
      value = this.unquote(at, end);
      this.line.endLine(end);
    } else if (code === 0x7b || code === 0x5b) {
      value = this.flow(at, depth + 1);
      this.line.endLine(this.line.at);
    } else {
      value = this.plain(at, code);
    }
    this.line.advance();
    if (this.line.column > column) throw unusual;
    return value;
  }

  /** Brackets that close on their line and hold nothing odd; moves behind them. */
  private flow(at: number, depth: number): JsonValue {
    if (depth > maxDepth) throw unusual;
    const isMap = this.text.charCodeAt(at) === 0x7b;
    const close = isMap ? 0x7d : 0x5d;
    const map = Object.create(null) as Fields;
    const list: JsonValue[] = [];
    this.line.at = this.line.skipSpaces(at + 1);
    for (let isFirst = true; isFirst || this.text.charCodeAt(this.line.at) !== close; isFirst = false) {
      if (isFirst && this.text.charCodeAt(this.line.at) === close) break;
      if (!isFirst) {
        if (this.text.charCodeAt(this.line.at) !== 0x2c) throw unusual;
        this.line.at = this.line.skipSpaces(this.line.at + 1);
      }
      if (isMap) {
        const key = this.flowKey();
        if (key in map) throw unusual;
        map[key] = this.flowValue(depth);
      } else list.push(this.flowValue(depth));
      this.line.at = this.line.skipSpaces(this.line.at);
    }
    this.line.at += 1;
    return isMap ? map : list;
  }

  private flowKey(): string {
    const code = this.text.charCodeAt(this.line.at);
    const isQuoted = code === 0x22 || code === 0x27;
    const from = this.line.at;
    const value = this.flowValue(maxDepth);
    if (!isKeyWord(value)) throw unusual;
    if (this.line.at - from > longestKey || this.text.charCodeAt(this.line.at) !== 0x3a) throw unusual;
    const next = this.text.charCodeAt(this.line.at + 1);
    if (next !== 0x20 && !(isQuoted && next !== 0x2c && next !== 0x7d)) throw unusual;
    this.line.at = this.line.skipSpaces(this.line.at + 1);
    return String(value);
  }

  private flowValue(depth: number): JsonValue {
    const { at } = this.line;
    if (at >= this.to) throw unusual;
    const code = this.text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) return this.flow(at, depth + 1);
    const isQuoted = code === 0x22 || code === 0x27;
    const end = this.end(code === 0x22 ? doubleQuoted : code === 0x27 ? singleQuoted : flowPlain, at);
    if (end === -1) throw unusual;
    this.line.at = end;
    return isQuoted ? this.unquote(at, end) : readPlainScalar(this.text.slice(at, end));
  }

  private below(lineEnd: number, column: number, depth: number, isOfKey: boolean): JsonValue {
    this.line.next = lineEnd + 1;
    this.line.advance();
    if (this.line.column > column) {
      return this.line.isDash(this.line.at)
        ? this.list(this.line.column, depth + 1)
        : this.map(this.line.column, depth + 1);
    }
    if (isOfKey && this.line.column === column && this.line.isDash(this.line.at)) return this.list(column, depth + 1);
    return null;
  }

  private plain(at: number, first: number): JsonValue {
    if (first === 0x2d || first === 0x3f || first === 0x3a) {
      const code = this.text.charCodeAt(at + 1);
      if (at + 1 >= this.to || code === 0x20 || code === 0x0a || code === 0x09) throw unusual;
    } else if (isIndicator(first)) throw unusual;
    const lineEnd = this.line.lineEnd(at);
    let plain = this.text.slice(at, lineEnd);
    const comment = plain.indexOf(' #');
    if (comment !== -1) plain = plain.slice(0, comment);
    plain = plain.trimEnd();
    if (plainInside.test(plain)) throw unusual;
    this.line.next = lineEnd + 1;
    return readPlainScalar(plain);
  }

  private literal(at: number, column: number): string {
    literalHeader.lastIndex = at;
    const header = literalHeader.exec(this.text);
    if (header === null) throw unusual;
    const { text, to } = this;
    let indent = header[1] === '' ? -1 : column + Number(header[1]);
    const lines: string[] = [];
    /** Lines up to here hold content; what follows is left to chomping. */
    let content = 0;
    let isBlankEnd = false;
    let start = at + header[0].length + 1;
    while (start < to) {
      const end = text.indexOf('\n', start);
      if (end === -1 || end >= to) throw unusual;
      let first = start;
      while (text.charCodeAt(first) === 0x20) first += 1;
      const spaces = first - start;
      if (first === end) {
        if (indent === -1 && spaces > 0) throw unusual;
        lines.push(spaces > indent && indent !== -1 ? text.slice(start + indent, end) : '');
        if (spaces > indent && indent !== -1) {
          content = lines.length;
          isBlankEnd = true;
        }
      } else {
        if (indent === -1) {
          if (spaces <= column || text.charCodeAt(first) === 0x09) {
            if (spaces > column) throw unusual;
            break;
          }
          indent = spaces;
        }
        if (spaces < indent) break;
        lines.push(text.slice(start + indent, end));
        content = lines.length;
        isBlankEnd = false;
      }
      start = end + 1;
    }
    // The full reader sees less in blank lines at the end when there is an indicator; one reading is enough.
    if (isBlankEnd && header[1] !== '') throw unusual;
    this.line.next = start;
    this.line.advance();
    if (this.line.column > column) throw unusual;
    return chomp(lines, content, header[2] ?? '');
  }
}

/** Numbers have a notation of their own as keys. */
const isKeyWord = (value: JsonValue): value is string | boolean =>
  typeof value === 'string' || typeof value === 'boolean';

function chomp(lines: readonly string[], content: number, sign: string): string {
  if (sign === '+') return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  if (content === 0) return '';
  const body = (content === lines.length ? lines : lines.slice(0, content)).join('\n');
  return sign === '-' ? body : `${body}\n`;
}

const indicators = new Set([...',[]{}#&*!|>\'"%@`\t'].map((char) => char.charCodeAt(0)));
const isIndicator = (code: number): boolean => indicators.has(code);
