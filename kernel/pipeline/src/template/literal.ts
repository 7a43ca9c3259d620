/** Go's `strconv.Unquote` for one interpreted string or character; undefined when it is malformed. */
export function unquote(text: string): string | undefined {
  const quote = text[0] ?? '';
  const bytes: number[] = [];
  let plain = '';
  const flush = (): void => {
    if (plain !== '') bytes.push(...Buffer.from(plain));
    plain = '';
  };
  for (let at = 1; at < text.length - 1;) {
    const character = text[at] ?? '';
    if (character !== '\\') {
      plain += character;
      at += 1;
      continue;
    }
    const escape = text[at + 1] ?? '';
    const simple = SIMPLE.get(escape) ?? (escape === quote ? quote : undefined);
    if (simple !== undefined) {
      plain += simple;
      at += 2;
      continue;
    }
    const coded = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/.exec(
      text.slice(at + 1, text.length - 1),
    );
    if (coded === null) return undefined;
    const [all, hex, short, long, octal] = coded;
    at += 1 + all.length;
    const byte = hex ?? octal;
    if (byte !== undefined) {
      const value = Number.parseInt(byte, hex === undefined ? 8 : 16);
      if (value > 255) return undefined;
      flush();
      bytes.push(value);
      continue;
    }
    const point = Number.parseInt(short ?? long ?? '', 16);
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return undefined;
    plain += String.fromCodePoint(point);
  }
  flush();
  return decode(bytes);
}

const SIMPLE = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
]);

/** Bytes that are no text have no place in a commit message. */
function decode(bytes: readonly number[]): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}

/** The value of a character constant. */
export function unquoteCharacter(text: string): bigint | undefined {
  const octalOrHex = /^'\\(?:x([0-9a-fA-F]{2})|([0-7]{3}))'$/.exec(text);
  if (octalOrHex !== null) {
    const value = Number.parseInt(octalOrHex[1] ?? octalOrHex[2] ?? '', octalOrHex[1] === undefined ? 8 : 16);
    return value > 255 ? undefined : BigInt(value);
  }
  const inside = text === "'\\\"'" ? undefined : unquote(text);
  const points = inside === undefined ? [] : [...inside];
  const point = points.length === 1 ? points[0]?.codePointAt(0) : undefined;
  return point === undefined ? undefined : BigInt(point);
}

const MAX_INT = 2n ** 63n - 1n;

/** A number as Go types it: an int, or a float64 when it is written like one. A string says what is wrong. */
export function parseNumber(text: string): bigint | number | { readonly problem: string } {
  const [sign, digits] = /^[+-]/.test(text) ? [text[0] === '-' ? -1n : 1n, text.slice(1)] : [1n, text];
  if (digits.includes('_') && !/^(0[xXoObB]_?|[0-9])[0-9a-fA-F]*(_[0-9a-fA-F]+)*$/.test(digits))
    return { problem: `bad number syntax: ${JSON.stringify(text)}` };
  const clean = digits.replaceAll('_', '');
  const integer = integerOf(clean);
  if (integer !== undefined) {
    const value = sign * integer;
    return value > MAX_INT || value < -MAX_INT - 1n ? { problem: `integer overflow: ${JSON.stringify(text)}` } : value;
  }
  if (digits.includes('_') || /^0[xX]/.test(digits))
    return { problem: `floats with _ or in base 16 are not supported: ${JSON.stringify(text)}` };
  if (!/^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(digits))
    return { problem: `bad number syntax: ${JSON.stringify(text)}` };
  if (!/[.eE]/.test(digits)) return { problem: `integer overflow: ${JSON.stringify(text)}` };
  const value = Number(digits) * Number(sign);
  return Number.isFinite(value) ? value : { problem: `the number is out of range: ${JSON.stringify(text)}` };
}

function integerOf(digits: string): bigint | undefined {
  if (/^(0|[1-9][0-9]*)$/.test(digits)) return BigInt(digits);
  if (/^0[xX][0-9a-fA-F]+$|^0[oO][0-7]+$|^0[bB][01]+$/.test(digits)) return BigInt(digits.toLowerCase());
  return /^0[0-7]+$/.test(digits) ? BigInt(`0o${digits.slice(1)}`) : undefined;
}
