/** What a scalar can be once its text is read. */
export type Scalar = null | boolean | number | bigint | string;

const trueWords = ['true', 'True', 'TRUE', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'y', 'Y'];
const falseWords = ['false', 'False', 'FALSE', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'n', 'N'];
const nullWords = ['~', 'null', 'Null', 'NULL'];
const words = new Map<string, Scalar>([
  ...trueWords.map((word) => [word, true] as const),
  ...falseWords.map((word) => [word, false] as const),
  ...nullWords.map((word) => [word, null] as const),
]);
const longestWord = 5;

/** Go reads the base letter in either case; a leading zero is octal. */
const integer = /^(?:0[bB][01]+|0[oO][0-7]+|0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$/;
/** Go parses what follows `0b` on its own, a sign included. */
const signedBinary = /^0b([-+])([01]+)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const infinity = /^[-+]?\.(?:inf|Inf|INF)$/;
const notANumber = /^\.(?:nan|NaN|NAN)$/;

/**
 * The value of a plain scalar as the appliers read it (chapter 20, 4.2): YAML 1.1 words are booleans, `0644` is octal,
 * `_` separates digits, there is no sexagesimal, timestamps are strings. Integers that a double cannot hold are `bigint`.
 */
export function readPlainScalar(text: string): Scalar {
  if (text === '') return null;
  if (text.length <= longestWord) {
    const word = words.get(text);
    if (word !== undefined) return word;
  }
  if (!mayStartNumber(text.charCodeAt(0))) return text;
  if (infinity.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (notANumber.test(text)) return NaN;
  const digits = withoutSeparators(text);
  const unsigned = digits.startsWith('-') || digits.startsWith('+') ? digits.slice(1) : digits;
  if (integer.test(unsigned)) {
    const value = toInteger(unsigned, digits.startsWith('-'));
    if (unsigned.charCodeAt(0) !== 0x30 || fitsGo(value)) return value;
  }
  if (!float.test(digits)) {
    const [, sign, bits] = signedBinary.exec(digits) ?? [];
    return bits === undefined ? text : toInteger(`0b${bits}`, sign === '-');
  }
  const number = Number(digits);
  return Number.isFinite(number) ? number : text;
}

/** Go drops them wherever they stand, but behind a leading dot it wants them between two digits. */
function withoutSeparators(text: string): string {
  if (!text.includes('_') || (text.startsWith('.') && looseSeparator.test(text))) return text;
  return text.replaceAll('_', '');
}
const looseSeparator = /(?<![0-9])_|_(?![0-9])/;

function mayStartNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e;
}

function toInteger(unsigned: string, isNegative: boolean): number | bigint {
  const literal = /^0[0-7]+$/.test(unsigned) ? `0o${unsigned.slice(1)}` : unsigned;
  const number = Number(literal);
  if (Number.isSafeInteger(number)) return isNegative && number !== 0 ? -number : number;
  return isNegative ? -BigInt(literal) : BigInt(literal);
}

/** Go's integers: what has another base than ten and does not fit is none. */
const fitsGo = (value: number | bigint): boolean =>
  typeof value === 'number' || (value < 1n << 64n && value >= -(1n << 63n));

const anyWord = new Set([...words.keys(), '=', '<<']);
/** Supersets of what YAML 1.1, YAML 1.2 and Go's two readings take for numbers, sexagesimals and `0o+7` included. */
const numberInSomeReading = new RegExp(
  [
    '^[-+]?0[bB][-+]?[01_]+$',
    '^[-+]?0[oO][-+]?[0-7_]+$',
    '^[-+]?0[xX][-+]?[0-9a-fA-F_]+$',
    '^[-+]?[0-9][0-9_]*$',
    '^[-+]?[0-9_]*\\.[0-9_]*$',
    '^[-+]?[0-9_]*(?:\\.[0-9_]*)?[eE][-+]?[0-9_]+$',
    '^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\\.[0-9_]*)?$',
    '^[-+]?\\.(?:inf|Inf|INF|nan|NaN|NAN)$',
  ].join('|'),
);
const timestampInSomeReading =
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[tT]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?$/;

/** Whether some reader takes the plain text for anything but a string: what must be quoted. */
export function isMisreadWhenPlain(text: string): boolean {
  if (text.length <= longestWord && (text === '' || anyWord.has(text))) return true;
  const first = text.charCodeAt(0);
  // 0x45, 0x65: `e5` is a float without digits to one YAML 1.1 reader.
  if (!mayStartNumber(first) && first !== 0x45 && first !== 0x65) return false;
  return (
    typeof readPlainScalar(text) !== 'string' ||
    numberInSomeReading.test(text) ||
    timestampInSomeReading.test(text) ||
    (text.includes('_') && numberInSomeReading.test(text.replaceAll('_', '')))
  );
}
