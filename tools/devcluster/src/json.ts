import type { Json, MutableJson } from './object.js';

/** A run of 16 or more digits may be an integer that `JSON.parse` would round. */
const longNumber = /[0-9]{16}/;

/** Parses JSON without rounding: integers beyond 2^53 become `bigint`. Throws SyntaxError as `JSON.parse` does. */
export function parseJson(text: string): Json {
  const parsed = JSON.parse(text) as Json;
  return longNumber.test(text) ? new LosslessParser(text).parse() : parsed;
}

/** Compact JSON; `bigint` is written as the integer it is. */
export function stringifyJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (fault) {
    if (!(fault instanceof TypeError)) throw fault;
    // A marker no JSON text can contain unescaped; replaced in the output by the bare digits.
    const marked = JSON.stringify(
      value,
      (_key, found: unknown) => (typeof found === 'bigint' ? `\u0001${found}\u0001` : found),
      indent,
    );
    return marked.replace(/"\\u0001(-?[0-9]+)\\u0001"/g, '$1');
  }
}

/** Runs only over text that `JSON.parse` accepted, so it need not diagnose. */
class LosslessParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Json {
    this.#space();
    const first = this.#text[this.#at];
    if (first === '{') return this.#object();
    if (first === '[') return this.#list();
    if (first === '"') return this.#string();
    const end = /[\s,\]}]|$/g;
    end.lastIndex = this.#at;
    const stop = end.exec(this.#text)?.index ?? this.#text.length;
    const token = this.#text.slice(this.#at, stop);
    this.#at = stop;
    if (/^-?[0-9]+$/.test(token) && !Number.isSafeInteger(Number(token))) return BigInt(token);
    return JSON.parse(token) as Json;
  }

  #object(): Json {
    const found: MutableJson = {};
    this.#at += 1;
    for (this.#space(); this.#text[this.#at] !== '}'; this.#space()) {
      if (this.#text[this.#at] === ',') this.#at += 1;
      this.#space();
      const key = this.#string();
      this.#space();
      this.#at += 1;
      Object.defineProperty(found, key, { value: this.parse(), enumerable: true, writable: true, configurable: true });
    }
    this.#at += 1;
    return found as Json;
  }

  #list(): Json {
    const found: Json[] = [];
    this.#at += 1;
    for (this.#space(); this.#text[this.#at] !== ']'; this.#space()) {
      if (this.#text[this.#at] === ',') this.#at += 1;
      found.push(this.parse());
    }
    this.#at += 1;
    return found;
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    while (this.#text[this.#at] !== '"') this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
    this.#at += 1;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
