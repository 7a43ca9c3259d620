const shape = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|Ki|[MGTPE]i?|[eE][+-]?\d{1,3})?$/;
const decimal = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const binary = new Map([
  ['Ki', 1n],
  ['Mi', 2n],
  ['Gi', 3n],
  ['Ti', 4n],
  ['Pi', 5n],
  ['Ei', 6n],
]);
const longest = 64;

/** Whether two scalars are the same Kubernetes quantity (`1000m` and `1`); false when one is none. */
export function isSameQuantity(a: unknown, b: unknown): boolean {
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) return false;
  const exponent = Math.min(left.exponent, right.exponent);
  return scaled(left, exponent) === scaled(right, exponent);
}

interface Quantity {
  readonly digits: bigint;
  readonly exponent: number;
}

const scaled = ({ digits, exponent }: Quantity, to: number): bigint => digits * 10n ** BigInt(exponent - to);

function parse(value: unknown): Quantity | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const text = String(value);
  if (text.length > longest) return undefined;
  const found = shape.exec(text);
  if (found === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = found;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n);
  const power = binary.get(suffix);
  if (power !== undefined) return { digits: digits * 1024n ** power, exponent: -fraction.length };
  const exponent = decimal.get(suffix) ?? Number(suffix.slice(1));
  return { digits, exponent: exponent - fraction.length };
}
