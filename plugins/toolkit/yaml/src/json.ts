import { ReverserError, type JsonObject, type JsonValue } from '@gitops-reverser/kernel-api';

/** An integer that the engine may round, outside a string or looking like that. False alarms only cost time. */
const bigInteger = /(?:^|[\s:,[])-?[0-9]{16,}/;

/** A `__proto__` key, written out or escaped, must not come back in an object with a prototype. */
const needsCare = (text: string): boolean =>
  bigInteger.test(text) || text.includes('__proto__') || /\\u005[fF]/.test(text);

/** Ten times what can be written; keeps the recursion away from the end of the stack. */
const maxJsonDepth = 1_000;

/**
 * Reads JSON without losing digits: integers outside ±(2^53−1) come back as `bigint`.
 * Plain texts, which is nearly all, take the engine's own parser.
 *
 * @throws ReverserError `InvalidJson` naming the position, never the content
 */
export function parseJson(text: string): JsonValue {
  if (needsCare(text)) return new LosslessReader(text).document();
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The engine's message quotes the text; reading again finds the position without quoting.
    return new LosslessReader(text).document();
  }
}

/** JSON text with every digit of a `bigint`. */
export function stringifyJson(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The engine refuses a bigint, which is rare; looking for one first would cost every caller.
    if (!holdsBigint(value, 0)) throw error;
    return write(value);
  }
}

function holdsBigint(value: JsonValue, depth: number): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null || depth > maxJsonDepth) return false;
  return Object.values(value as JsonObject).some((item) => holdsBigint(item, depth + 1));
}

function write(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(write).join(',')}]`;
  const pairs = Object.entries(value as JsonObject).filter(([, item]) => (item as unknown) !== undefined);
  return `{${pairs.map(([key, item]) => `${JSON.stringify(key)}:${write(item)}`).join(',')}}`;
}

const number = /-?(?:0|[1-9][0-9]*)(?<fraction>\.[0-9]+)?(?<exponent>[eE][-+]?[0-9]+)?/y;
const space = /[ \t\n\r]*/y;
const simpleString = /"([^"\\\0-\x1f]*)"/y;
const anyString = /"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

class LosslessReader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): JsonValue {
    const value = this.value(0);
    this.skipSpace();
    if (this.at < this.text.length) this.fail('the end of the text');
    return value;
  }

  private value(depth: number): JsonValue {
    if (depth > maxJsonDepth) this.fail(`at most ${maxJsonDepth} levels`);
    this.skipSpace();
    switch (this.text[this.at]) {
      case '{':
        return this.object(depth);
      case '[':
        return this.array(depth);
      case '"':
        return this.string();
      case 't':
        return this.word('true', true);
      case 'f':
        return this.word('false', false);
      case 'n':
        return this.word('null', null);
      default:
        return this.number();
    }
  }

  private object(depth: number): JsonValue {
    const object = Object.create(null) as Record<string, JsonValue>;
    this.at += 1;
    this.skipSpace();
    if (this.take('}')) return object;
    do {
      this.skipSpace();
      const key = this.string();
      this.skipSpace();
      if (!this.take(':')) this.fail('":"');
      object[key] = this.value(depth + 1);
      this.skipSpace();
    } while (this.take(','));
    if (!this.take('}')) this.fail('"," or "}"');
    return object;
  }

  private array(depth: number): JsonValue {
    const array: JsonValue[] = [];
    this.at += 1;
    this.skipSpace();
    if (this.take(']')) return array;
    do {
      array.push(this.value(depth + 1));
      this.skipSpace();
    } while (this.take(','));
    if (!this.take(']')) this.fail('"," or "]"');
    return array;
  }

  private string(): string {
    const simple = this.match(simpleString);
    if (simple !== undefined) return simple[1] as string;
    const found = this.match(anyString);
    if (found === undefined) this.fail('a string');
    return JSON.parse(found[0]) as string;
  }

  private number(): number | bigint {
    const found = this.match(number);
    if (found === undefined) this.fail('a value');
    const value = Number(found[0]);
    const isInteger = found.groups?.['fraction'] === undefined && found.groups?.['exponent'] === undefined;
    return isInteger && !Number.isSafeInteger(value) ? BigInt(found[0]) : value;
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail('a value');
    this.at += word.length;
    return value;
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at += 1;
    return true;
  }

  private match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    this.at += found[0].length;
    return found;
  }

  private skipSpace(): void {
    const code = this.text.charCodeAt(this.at);
    if (code <= 0x20) this.match(space);
  }

  private fail(expected: string): never {
    const found = this.at < this.text.length ? 'something else' : 'the end of the text';
    throw new ReverserError({
      reason: 'InvalidJson',
      retry: 'when-changed',
      message: `not valid JSON: expected ${expected} at offset ${this.at}, found ${found}`,
      details: { offset: this.at, length: this.text.length },
    });
  }
}
