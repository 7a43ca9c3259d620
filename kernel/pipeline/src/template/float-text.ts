/** Go's `strconv.FormatFloat` for the verbs templates have: exact decimal digits, ties to even. */
export function formatFloat(
  value: number,
  verb: 'e' | 'f' | 'g',
  precision: number | undefined,
  keepZeros = false,
): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return sign + formatMagnitude(Math.abs(value), verb, precision, keepZeros);
}

function formatMagnitude(
  value: number,
  verb: 'e' | 'f' | 'g',
  precision: number | undefined,
  keepZeros: boolean,
): string {
  switch (verb) {
    case 'f':
      return precision === undefined ? plain(shortest(value)) : fixed(value, precision);
    case 'e':
      return scientific(precision === undefined ? shortest(value) : significant(value, precision + 1));
    case 'g':
      return general(value, precision, keepZeros);
  }
}

/** `digits` with the point after the first, times ten to the `exponent`. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

/** The fewest digits that read back as the same number. */
function shortest(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  return { digits: mantissa.replace('.', ''), exponent: Number(exponent) };
}

function general(value: number, precision: number | undefined, keepZeros: boolean): string {
  const wanted = precision === undefined ? undefined : Math.max(1, precision);
  const decimal = wanted === undefined ? shortest(value) : significant(value, wanted);
  const kept = keepZeros || wanted === undefined ? decimal.digits : decimal.digits.replace(/0+$/, '') || '0';
  // 6: what Go takes for the precision of the shortest form when it decides about an exponent.
  const limit =
    wanted === undefined ? 6 : wanted > kept.length && kept.length >= decimal.exponent + 1 ? kept.length : wanted;
  const shown = { digits: kept, exponent: decimal.exponent };
  if (decimal.exponent < -4 || decimal.exponent >= limit) return scientific(shown);
  return plain(shown);
}

function scientific({ digits, exponent }: Decimal): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits[0] ?? '0'}${fraction}e${exponent < 0 ? '-' : '+'}${size}`;
}

function plain({ digits, exponent }: Decimal): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = digits.slice(exponent + 1);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The number as `numerator / 2 ** shift`, exactly. */
function exact(value: number): { readonly numerator: bigint; readonly shift: bigint } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const field = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  const mantissa = field === 0 ? fraction : fraction | (1n << 52n);
  const power = (field === 0 ? 1 : field) - 1075;
  return power >= 0
    ? { numerator: mantissa << BigInt(power), shift: 0n }
    : { numerator: mantissa, shift: BigInt(-power) };
}

function roundedQuotient(numerator: bigint, denominator: bigint): bigint {
  const [quotient, rest] = [numerator / denominator, numerator % denominator];
  const twice = rest * 2n;
  const isUp = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}

function fixed(value: number, precision: number): string {
  const { numerator, shift } = exact(value);
  const digits = roundedQuotient(numerator * 10n ** BigInt(precision), 1n << shift)
    .toString()
    .padStart(precision + 1, '0');
  return precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

function significant(value: number, count: number): Decimal {
  if (value === 0) return { digits: '0'.repeat(count), exponent: 0 };
  const { numerator, shift } = exact(value);
  let exponent = shortest(value).exponent;
  for (;;) {
    const scale = count - 1 - exponent;
    const [top, bottom] =
      scale >= 0 ? [numerator * 10n ** BigInt(scale), 1n << shift] : [numerator, (1n << shift) * 10n ** BigInt(-scale)];
    const digits = roundedQuotient(top, bottom).toString();
    if (digits.length <= count) return { digits, exponent };
    exponent += 1;
  }
}
