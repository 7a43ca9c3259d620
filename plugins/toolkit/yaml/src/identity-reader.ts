import { maxDepth } from './limits.js';
import { LineCursor, unusual } from './line-cursor.js';
import { readPlainScalar } from './plain-scalar.js';

/** What an inventory needs of a document: who it is about, and whether it is encrypted. */
export interface SimpleIdentity {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  /** A top-level `sops` map is there. */
  readonly isEncrypted: boolean;
}

/**
 * Walks over a document of the same simple kind as `readSimple` takes and holds it against the same rules, but keeps four texts and
 * makes no values: folders of ten thousand files are inventoried with it. What it does not know for sure it leaves to the readers.
 *
 * @returns `undefined` when the text is outside the subset
 */
export function readSimpleIdentity(text: string, from: number, to: number): SimpleIdentity | undefined {
  try {
    return new IdentityReader(text, from, to).document();
  } catch (error) {
    if (error === unusual) return undefined;
    throw error;
  }
}

const longestKey = 1000;
/** So many keys of a map are compared one by one; more go into a set. */
const fewKeys = 16;

/** By character code below 128: what may begin a plain key, and what may follow. */
const keyStart = tableOf(/[A-Za-z0-9_./$]/);
const keyInside = tableOf(/[A-Za-z0-9_./$@+~*-]/);
/** What a plain scalar between brackets is made of. */
const flowInside = tableOf(/[A-Za-z0-9_./$@+~*=%-]/);
/** What no plain scalar begins with, `-`, `?` and `:` aside. */
const indicator = tableOf(/[,[\]{}#&*!|>'"%@`\t]/);
/** What a backslash may stand before in double quotes; `u` is left to the readers. */
const escape = tableOf(/["\\/bfnrt]/);

function tableOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(pattern.test(String.fromCharCode(code))));
}

/** What the value last walked over was. */
type Kind = 'plain' | 'double' | 'single' | 'escaped' | 'block' | 'map' | 'other';
type Role = 'root' | 'metadata' | 'inner';

class IdentityReader {
  private readonly text: string;
  private readonly to: number;
  private readonly line: LineCursor;
  /** Keys of the maps that are open. */
  private readonly keys: string[] = [];
  private kind: Kind = 'other';
  private scalarFrom = 0;
  private scalarTo = 0;
  private readonly found: { -readonly [K in keyof SimpleIdentity]: SimpleIdentity[K] } = { isEncrypted: false };

  constructor(text: string, from: number, to: number) {
    this.text = text;
    this.to = to;
    this.line = new LineCursor(text, from, to);
  }

  document(): SimpleIdentity {
    this.line.advance();
    if (this.line.column !== 0) throw unusual;
    if (this.line.isDash(this.line.at)) this.list(0, 1);
    else this.map(0, 1, 'root');
    if (!this.line.isAtEnd) throw unusual;
    return this.found;
  }

  private map(column: number, depth: number, role: Role): void {
    if (depth > maxDepth) throw unusual;
    const firstKey = this.keys.length;
    let more: Set<string> | undefined;
    for (;;) {
      const key = this.key();
      more = this.remember(key, firstKey, more);
      this.valueAfter(column, depth, true, role === 'root' && key === 'metadata' ? 'metadata' : 'inner');
      if (role !== 'inner') this.keep(role, key);
      if (this.line.column < column) break;
      if (this.line.column > column || this.line.isDash(this.line.at)) throw unusual;
    }
    this.keys.length = firstKey;
    this.kind = 'map';
  }

  /** @returns the set of keys, once there are many */
  private remember(key: string, firstKey: number, more: Set<string> | undefined): Set<string> | undefined {
    const { keys } = this;
    for (let at = firstKey; at < keys.length; at += 1) if (keys[at] === key) throw unusual;
    if (keys.length - firstKey < fewKeys) {
      keys.push(key);
      return more;
    }
    const set = more ?? new Set();
    if (set.has(key)) throw unusual;
    return set.add(key);
  }

  private keep(role: Role, key: string): void {
    if (role === 'metadata') {
      if (key === 'name' || key === 'namespace') this.keepText(key);
    } else if (key === 'apiVersion' || key === 'kind') this.keepText(key);
    else if (key === 'sops') this.found.isEncrypted = this.kind === 'map';
  }

  private keepText(field: 'apiVersion' | 'kind' | 'name' | 'namespace'): void {
    const { kind } = this;
    if (kind === 'block' || kind === 'escaped') throw unusual;
    if (kind === 'map' || kind === 'other') return;
    const text = this.text.slice(this.scalarFrom, this.scalarTo);
    const value = kind === 'plain' ? readPlainScalar(text) : text;
    if (typeof value === 'string' && value !== '') this.found[field] = value;
  }

  private list(column: number, depth: number): void {
    if (depth > maxDepth) throw unusual;
    for (;;) {
      this.line.at += 1;
      this.item(column, depth);
      if (this.line.column < column) break;
      if (this.line.column > column) throw unusual;
      // A list that lies flush with its key ends at the next key.
      if (!this.line.isDash(this.line.at)) break;
    }
    this.kind = 'other';
  }

  /** Stands behind the dash. A collection may begin on the same line. */
  private item(column: number, depth: number): void {
    const at = this.line.skipSpaces(this.line.at);
    const inner = column + 1 + (at - this.line.at);
    if (at > this.line.at && at < this.to) {
      if (this.line.isDash(at)) {
        this.line.at = at;
        return this.list(inner, depth + 1);
      }
      if (this.isKeyAt(at)) {
        this.line.at = at;
        return this.map(inner, depth + 1, 'inner');
      }
    }
    this.valueAfter(column, depth, false, 'inner');
  }

  /** Whether an implicit key starts here; does not move. */
  private isKeyAt(at: number): boolean {
    const code = this.text.charCodeAt(at);
    if (code !== 0x22 && code !== 0x27) return this.plainKeyEnd(at) !== -1;
    const end = this.quotedEnd(at, code);
    return this.text.charCodeAt(end) === 0x3a;
  }

  /** Behind a plain key that a colon and a blank follow, or -1. */
  private plainKeyEnd(at: number): number {
    const { text, to } = this;
    if (keyStart[text.charCodeAt(at)] !== 1) return -1;
    let end = at + 1;
    while (end < to && keyInside[text.charCodeAt(end)] === 1) end += 1;
    return end < to && text.charCodeAt(end) === 0x3a && this.line.isBlank(end + 1) ? end : -1;
  }

  /** Reads a key and its colon. */
  private key(): string {
    const { at, text } = this.line;
    const code = text.charCodeAt(at);
    let key: string;
    let end: number;
    if (code === 0x22 || code === 0x27) {
      end = this.quotedEnd(at, code);
      if (this.kind === 'escaped') throw unusual;
      key = text.slice(at + 1, end - 1);
      if (end >= this.to || text.charCodeAt(end) !== 0x3a || !this.line.isBlank(end + 1)) throw unusual;
    } else {
      end = this.plainKeyEnd(at);
      if (end === -1) throw unusual;
      const plain = readPlainScalar(text.slice(at, end));
      if (typeof plain === 'number' || typeof plain === 'bigint' || plain === null) throw unusual;
      key = typeof plain === 'string' ? plain : String(plain);
    }
    if (end - at > longestKey) throw unusual;
    this.line.at = end + 1;
    return key;
  }

  /** Behind the closing quote; says in `kind` whether the text between is the value. */
  private quotedEnd(at: number, quote: number): number {
    const { text, to } = this;
    let kind: Kind = quote === 0x22 ? 'double' : 'single';
    for (let end = at + 1; end < to; end += 1) {
      const code = text.charCodeAt(end);
      if (code === 0x0a || code === 0x09) throw unusual;
      if (code === 0x5c && quote === 0x22) {
        kind = 'escaped';
        end += 1;
        if (escape[text.charCodeAt(end)] !== 1) throw unusual;
      } else if (code === quote) {
        if (quote === 0x22 || text.charCodeAt(end + 1) !== 0x27) {
          this.kind = kind;
          this.scalarFrom = at + 1;
          this.scalarTo = end;
          return end + 1;
        }
        kind = 'escaped';
        end += 1;
      }
    }
    throw unusual;
  }

  /** What follows a key's colon or a dash, on the same line or below; moves to the next line with content. */
  private valueAfter(column: number, depth: number, isOfKey: boolean, role: Role): void {
    const at = this.line.skipSpaces(this.line.at);
    const code = at < this.to ? this.text.charCodeAt(at) : 0x0a;
    if (code === 0x0a || (code === 0x23 && at > this.line.at))
      return this.below(this.line.lineEnd(at), column, depth, isOfKey, role);
    if (code === 0x7c || code === 0x3e) return this.block(at, column);
    if (code === 0x22 || code === 0x27) this.line.endLine(this.quotedEnd(at, code));
    else if (code === 0x7b || code === 0x5b) {
      this.flow(at, depth + 1, role);
      this.line.endLine(this.line.at);
    } else this.plain(at, code);
    this.line.advance();
    if (this.line.column > column) throw unusual;
  }

  private below(lineEnd: number, column: number, depth: number, isOfKey: boolean, role: Role): void {
    this.line.next = lineEnd + 1;
    this.line.advance();
    if (this.line.column > column) {
      if (this.line.isDash(this.line.at)) this.list(this.line.column, depth + 1);
      else this.map(this.line.column, depth + 1, role);
    } else if (isOfKey && this.line.column === column && this.line.isDash(this.line.at)) this.list(column, depth + 1);
    else this.kind = 'other';
  }

  /** A plain scalar of one line. */
  private plain(start: number, first: number): void {
    const { text, to } = this;
    if (first === 0x2d || first === 0x3f || first === 0x3a) {
      if (this.line.isBlank(start + 1)) throw unusual;
    } else if (indicator[first] === 1) throw unusual;
    let end = start;
    let at = start;
    let before = 0;
    for (; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x0a) break;
      if (code === 0x09 || (code === 0x3a && this.line.isBlank(at + 1))) throw unusual;
      if (code === 0x23 && before === 0x20) {
        at = this.line.lineEnd(at);
        break;
      }
      if (code !== 0x20) end = at + 1;
      before = code;
    }
    this.kind = 'plain';
    this.scalarFrom = start;
    this.scalarTo = end;
    this.line.next = at + 1;
  }

  /** Brackets that close on their line and hold nothing odd; moves behind them. */
  private flow(at: number, depth: number, role: Role): void {
    if (depth > maxDepth) throw unusual;
    const { text } = this;
    const isMap = text.charCodeAt(at) === 0x7b;
    const close = isMap ? 0x7d : 0x5d;
    const firstKey = this.keys.length;
    let more: Set<string> | undefined;
    this.line.at = this.line.skipSpaces(at + 1);
    for (let isFirst = true; text.charCodeAt(this.line.at) !== close; isFirst = false) {
      if (!isFirst) {
        if (text.charCodeAt(this.line.at) !== 0x2c) throw unusual;
        this.line.at = this.line.skipSpaces(this.line.at + 1);
      }
      const key = isMap ? this.flowKey() : '';
      if (isMap) more = this.remember(key, firstKey, more);
      this.flowValue(depth);
      if (isMap && role === 'metadata') this.keep(role, key);
      this.line.at = this.line.skipSpaces(this.line.at);
    }
    this.keys.length = firstKey;
    this.line.at += 1;
    this.kind = isMap ? 'map' : 'other';
  }

  private flowKey(): string {
    const from = this.line.at;
    this.flowScalar();
    if (this.kind === 'escaped') throw unusual;
    const raw = this.text.slice(this.scalarFrom, this.scalarTo);
    const key = this.kind === 'plain' ? readPlainScalar(raw) : raw;
    if (typeof key === 'number' || typeof key === 'bigint' || key === null) throw unusual;
    const isEnd = this.line.at >= this.to || this.text.charCodeAt(this.line.at) !== 0x3a;
    if (isEnd || this.line.at - from > longestKey || this.text.charCodeAt(this.line.at + 1) !== 0x20) throw unusual;
    this.line.at = this.line.skipSpaces(this.line.at + 1);
    return String(key);
  }

  private flowValue(depth: number): void {
    const code = this.text.charCodeAt(this.line.at);
    if (code === 0x7b || code === 0x5b) this.flow(this.line.at, depth + 1, 'inner');
    else this.flowScalar();
  }

  /** Moves behind it. */
  private flowScalar(): void {
    const { at, text, to } = this.line;
    if (at >= to) throw unusual;
    const code = text.charCodeAt(at);
    if (code === 0x22 || code === 0x27) {
      this.line.at = this.quotedEnd(at, code);
      return;
    }
    const isDashed = code === 0x2d && keyInside[text.charCodeAt(at + 1)] === 1;
    if (!isDashed && keyStart[code] !== 1) throw unusual;
    let end = at + 1;
    for (; end < to; end += 1) {
      const inside = text.charCodeAt(end);
      if (flowInside[inside] === 1) continue;
      if (inside !== 0x3a || keyStart[text.charCodeAt(end + 1)] !== 1) break;
    }
    this.kind = 'plain';
    this.scalarFrom = at;
    this.scalarTo = end;
    this.line.at = end;
  }

  /** A literal or folded block. Its text is nobody's identity. */
  private block(start: number, column: number): void {
    const { text, to } = this;
    const isFolded = text.charCodeAt(start) === 0x3e;
    let at = start + 1;
    let indent = -1;
    const digit = text.charCodeAt(at);
    if (digit >= 0x31 && digit <= 0x39) {
      indent = column + digit - 0x30;
      at += 1;
    }
    const hasIndicator = indent !== -1;
    const sign = text.charCodeAt(at);
    if (sign === 0x2b || sign === 0x2d) at += 1;
    if (at >= to || text.charCodeAt(at) !== 0x0a) throw unusual;
    at += 1;
    let isBlankEnd = false;
    while (at < to) {
      const end = text.indexOf('\n', at);
      if (end === -1 || end >= to) throw unusual;
      let first = at;
      while (text.charCodeAt(first) === 0x20) first += 1;
      const spaces = first - at;
      if (first === end) {
        if (indent === -1 && (spaces > 0 || isFolded)) throw unusual;
        if (spaces > indent && indent !== -1) isBlankEnd = true;
      } else {
        const isTab = text.charCodeAt(first) === 0x09;
        if (indent === -1) {
          if (spaces <= column) break;
          if (isTab) throw unusual;
          indent = spaces;
        }
        if (spaces < indent) break;
        if (isTab && isFolded) throw unusual;
        isBlankEnd = false;
      }
      at = end + 1;
    }
    if (isBlankEnd && (hasIndicator || isFolded)) throw unusual;
    this.line.next = at;
    this.line.advance();
    if (this.line.column > column) throw unusual;
    this.kind = 'block';
  }
}
