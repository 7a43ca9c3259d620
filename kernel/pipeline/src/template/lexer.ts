import { errorAt } from './template-error.js';

type TokenKind =
  | 'text'
  | 'open'
  | 'close'
  | 'space'
  | 'assign'
  | 'declare'
  | 'pipe'
  | 'string'
  | 'raw-string'
  | 'char'
  | 'number'
  | 'variable'
  | 'field'
  | 'dot'
  | 'identifier'
  | 'keyword'
  | 'bool'
  | 'nil'
  | 'left-paren'
  | 'right-paren'
  | 'mark'
  | 'end-of-text';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly at: number;
}

const KEYWORDS = new Set(['block', 'break', 'continue', 'define', 'else', 'end', 'if', 'range', 'template', 'with']);
const SPACES = ' \t\r\n';
const isSpace = (character: string | undefined): boolean =>
  character !== undefined && character !== '' && SPACES.includes(character);
const ALPHANUMERIC = /[\p{L}\p{Nd}_]/u;

/** Cuts a template into tokens, as Go's lexer does: text, and the insides of `{{ }}`. */
export function tokenize(input: string): readonly Token[] {
  return new Lexer(input).run();
}

class Lexer {
  readonly #input: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #depth = 0;

  constructor(input: string) {
    this.#input = input;
  }

  run(): readonly Token[] {
    for (;;) {
      const open = this.#input.indexOf('{{', this.#at);
      if (open < 0) break;
      let end = open;
      if (this.#hasTrimAfter(open + 2)) while (end > this.#at && isSpace(this.#input[end - 1])) end -= 1;
      if (end > this.#at) this.#push('text', this.#at, end);
      this.#at = open + 2;
      if (this.#hasTrimAfter(this.#at)) this.#at += 2;
      if (this.#input.startsWith('/*', this.#at)) this.#comment(open);
      else this.#action(open);
    }
    if (this.#at < this.#input.length) this.#push('text', this.#at, this.#input.length);
    this.#push('end-of-text', this.#input.length, this.#input.length);
    return this.#tokens;
  }

  #hasTrimAfter(at: number): boolean {
    return this.#input[at] === '-' && isSpace(this.#input[at + 1]);
  }

  #comment(open: number): void {
    const end = this.#input.indexOf('*/', this.#at + 2);
    if (end < 0) throw errorAt(this.#input, open, 'the comment is never closed');
    this.#at = end + 2;
    const close = this.#closing();
    if (close === undefined)
      throw errorAt(this.#input, end, 'a comment ends only where its action does: expected }} after */');
    this.#leave(close);
  }

  /** Length of the closing delimiter at this place, its trim marker included. */
  #closing(): { readonly length: number; readonly trims: boolean } | undefined {
    if (this.#input.startsWith('}}', this.#at)) return { length: 2, trims: false };
    if (isSpace(this.#input[this.#at]) && this.#input.startsWith('-}}', this.#at + 1))
      return { length: 4, trims: true };
    return undefined;
  }

  #leave({ length, trims }: { readonly length: number; readonly trims: boolean }): void {
    this.#at += length;
    if (trims) while (isSpace(this.#input[this.#at])) this.#at += 1;
  }

  #action(open: number): void {
    this.#push('open', open, open + 2);
    this.#depth = 0;
    for (;;) {
      const close = this.#closing();
      if (close !== undefined) {
        if (this.#depth > 0) throw errorAt(this.#input, this.#at, 'a parenthesis is never closed');
        this.#push('close', this.#at, this.#at + close.length);
        this.#leave(close);
        return;
      }
      if (this.#at >= this.#input.length) throw errorAt(this.#input, open, 'the action is never closed: expected }}');
      this.#token();
    }
  }

  #token(): void {
    const [start, first] = [this.#at, this.#input[this.#at] ?? ''];
    if (isSpace(first)) {
      while (isSpace(this.#input[this.#at]) && this.#closing() === undefined) this.#at += 1;
      return this.#push('space', start, this.#at);
    }
    switch (first) {
      case '=':
        return this.#take('assign', 1);
      case ':':
        if (this.#input[start + 1] !== '=') throw errorAt(this.#input, start, 'expected :=');
        return this.#take('declare', 2);
      case '|':
        return this.#take('pipe', 1);
      case '"':
        return this.#quoted('string', '"');
      case "'":
        return this.#quoted('char', "'");
      case '`':
        return this.#raw();
      case '$':
        return this.#name('variable');
      case '(':
        this.#depth += 1;
        return this.#take('left-paren', 1);
      case ')':
        this.#depth -= 1;
        if (this.#depth < 0) throw errorAt(this.#input, start, 'a parenthesis is closed that was never opened');
        return this.#take('right-paren', 1);
      default:
        break;
    }
    if (first === '.' && !/[0-9]/.test(this.#input[start + 1] ?? '')) return this.#name('field');
    if (/[-+.0-9]/.test(first)) return this.#number();
    if (ALPHANUMERIC.test(this.#character(start))) return this.#identifier();
    if (/[ -~]/.test(first)) return this.#take('mark', 1);
    throw errorAt(this.#input, start, `unexpected character ${JSON.stringify(this.#character(start))} in an action`);
  }

  #character(at: number): string {
    const point = this.#input.codePointAt(at);
    return point === undefined ? '' : String.fromCodePoint(point);
  }

  #take(kind: TokenKind, length: number): void {
    this.#push(kind, this.#at, this.#at + length);
    this.#at += length;
  }

  #quoted(kind: 'string' | 'char', quote: string): void {
    const start = this.#at;
    for (let at = start + 1; ; at += 1) {
      const character = this.#input[at];
      if (character === '\\' && this.#input[at + 1] !== '\n' && at + 1 < this.#input.length) at += 1;
      else if (character === undefined || character === '\n')
        throw errorAt(
          this.#input,
          start,
          kind === 'string' ? 'the string is never closed' : 'the character constant is never closed',
        );
      else if (character === quote) return this.#take(kind, at + 1 - start);
    }
  }

  #raw(): void {
    const end = this.#input.indexOf('`', this.#at + 1);
    if (end < 0) throw errorAt(this.#input, this.#at, 'the raw string is never closed');
    this.#take('raw-string', end + 1 - this.#at);
  }

  #name(kind: 'variable' | 'field'): void {
    const start = this.#at;
    this.#at += 1;
    this.#word();
    this.#mustEnd();
    const isBare = this.#at === start + 1;
    this.#push(isBare && kind === 'field' ? 'dot' : kind, start, this.#at);
  }

  #identifier(): void {
    const start = this.#at;
    this.#word();
    this.#mustEnd();
    const word = this.#input.slice(start, this.#at);
    const kind = KEYWORDS.has(word)
      ? 'keyword'
      : word === 'true' || word === 'false'
        ? 'bool'
        : word === 'nil'
          ? 'nil'
          : 'identifier';
    this.#push(kind, start, this.#at);
  }

  #word(): void {
    for (let next = this.#character(this.#at); next !== '' && ALPHANUMERIC.test(next); next = this.#character(this.#at))
      this.#at += next.length;
  }

  #mustEnd(): void {
    const next = this.#input[this.#at];
    const isEnd =
      next === undefined || isSpace(next) || '.,|:)('.includes(next) || this.#input.startsWith('}}', this.#at);
    if (!isEnd)
      throw errorAt(
        this.#input,
        this.#at,
        `unexpected character ${JSON.stringify(this.#character(this.#at))} after a name`,
      );
  }

  #number(): void {
    const start = this.#at;
    const rest = this.#input.slice(start);
    const found =
      /^[+-]?(0[xX][0-9a-fA-F_]*(\.[0-9a-fA-F_]*)?([pP][+-]?[0-9_]*)?|0[oO][0-7_]*|0[bB][01_]*|[0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9_]*)?)(i?)/.exec(
        rest,
      );
    const text = found?.[0] ?? '';
    this.#at += text.length;
    if (text.endsWith('i') || (/^[+-]/.test(this.#input.slice(this.#at)) && text !== ''))
      throw errorAt(this.#input, start, 'complex numbers are not supported');
    if (text === '' || ALPHANUMERIC.test(this.#character(this.#at)))
      throw errorAt(this.#input, start, `bad number syntax: ${JSON.stringify(rest.slice(0, text.length + 1))}`);
    this.#push('number', start, this.#at);
  }

  #push(kind: TokenKind, from: number, to: number): void {
    this.#tokens.push({ kind, text: this.#input.slice(from, to), at: from });
  }
}
