import { formatFloat } from './float-text.js';
import { canBackquote, quote } from './quote.js';
import { isList, TemplateMap, TemplateRecord, typeName, type Value } from './values.js';

/** A printf construct Go knows and this subset does not. */
export class UnsupportedFormat extends Error {}

/** 65_536: no width, precision or text may grow beyond what a whole message may hold. */
const LARGEST = 65_536;

interface Flags {
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly zero: boolean;
  readonly space: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}
const NO_FLAGS: Flags = {
  plus: false,
  minus: false,
  sharp: false,
  zero: false,
  space: false,
  width: undefined,
  precision: undefined,
};

/** Go's `fmt.Sprint`: spaces between operands when neither is a string. */
export function sprint(values: readonly Value[]): string {
  let out = '';
  values.forEach((value, index) => {
    const before = values[index - 1];
    if (index > 0 && typeof value !== 'string' && typeof before !== 'string') out += ' ';
    out += printed(value);
  });
  return out;
}

/** Go's `fmt.Sprintln`. */
export const sprintln = (values: readonly Value[]): string => `${values.map(printed).join(' ')}\n`;

/** A value by `%v`. */
export const printed = (value: Value): string => formatValue(value, 'v', NO_FLAGS);

/** Go's `fmt.Sprintf`. */
export function sprintf(format: string, values: readonly Value[]): string {
  const characters = [...format];
  let [out, next, at] = ['', 0, 0];
  while (at < characters.length) {
    const character = characters[at] ?? '';
    at += 1;
    if (character !== '%') {
      out += character;
      continue;
    }
    const read = readFlags(characters, at, values, next);
    [at, next] = [read.at, read.next];
    out += read.problems;
    const verb = characters[at];
    if (verb === undefined) {
      out += '%!(NOVERB)';
      break;
    }
    at += 1;
    if (verb === '%') out += '%';
    else if (next >= values.length) out += `%!${verb}(MISSING)`;
    else {
      out += formatValue(values[next] ?? null, verb, read.flags);
      next += 1;
    }
    if (out.length > LARGEST) throw new UnsupportedFormat(`the text grows beyond ${LARGEST} characters`);
  }
  if (next >= values.length) return out;
  const extra = values.slice(next).map((value) => (value === null ? '<nil>' : `${typeName(value)}=${printed(value)}`));
  return `${out}%!(EXTRA ${extra.join(', ')})`;
}

function readFlags(
  characters: readonly string[],
  from: number,
  values: readonly Value[],
  firstValue: number,
): { readonly flags: Flags; readonly at: number; readonly next: number; readonly problems: string } {
  let [at, next, problems] = [from, firstValue, ''];
  const seen = new Set<string>();
  for (; '+-# 0'.includes(characters[at] ?? 'x'); at += 1) seen.add(characters[at] ?? '');
  const star = (name: string): number | undefined => {
    at += 1;
    const value = values[next];
    next += 1;
    if (typeof value === 'bigint' && value >= -1_000_000n && value <= 1_000_000n) return Number(value);
    problems += `%!(BAD${name})`;
    return undefined;
  };
  const digits = (): number | undefined => {
    const start = at;
    while (/[0-9]/.test(characters[at] ?? '')) at += 1;
    return start === at ? undefined : Number(characters.slice(start, at).join(''));
  };
  let minus = seen.has('-');
  let width = characters[at] === '*' ? star('WIDTH') : digits();
  if (width !== undefined && width < 0) {
    width = -width;
    minus = true;
  }
  let precision: number | undefined;
  if (characters[at] === '.') {
    at += 1;
    precision = characters[at] === '*' ? star('PREC') : (digits() ?? 0);
    if (precision !== undefined && precision < 0) {
      precision = undefined;
      problems += '%!(BADPREC)';
    }
  }
  if (characters[at] === '[')
    throw new UnsupportedFormat('argument indexes in printf, such as %[1]s, are not supported');
  if ((width ?? 0) > LARGEST || (precision ?? 0) > LARGEST)
    throw new UnsupportedFormat(`width and precision in printf may be at most ${LARGEST}`);
  return {
    flags: {
      plus: seen.has('+'),
      minus,
      sharp: seen.has('#'),
      zero: seen.has('0') && !minus,
      space: seen.has(' '),
      width,
      precision,
    },
    at,
    next,
    problems,
  };
}

/** Verbs Go knows and message templates have no use for. */
const UNSUPPORTED = new Set(['T', 'p', 'w', 'O', 'G', 'F', 'E', 'b', 'o']);

/** `%+v` asks for field names, not for a sign. */
const formatValue = (value: Value, verb: string, flags: Flags): string =>
  formatKnown(value, verb, verb === 'v' ? { ...flags, plus: false } : flags);

function formatKnown(value: Value, verb: string, flags: Flags): string {
  if (UNSUPPORTED.has(verb)) throw new UnsupportedFormat(`the verb %${verb} is not supported`);
  if (value === null) return verb === 'v' ? pad('<nil>', flags) : `%!${verb}(<nil>)`;
  switch (typeof value) {
    case 'string':
      return formatText(value, verb, flags);
    case 'bigint':
      return formatInteger(value, verb, flags);
    case 'number':
      return formatNumber(value, verb, flags);
    case 'boolean':
      return verb === 't' || verb === 'v' ? pad(String(value), flags) : bad(value, verb, flags);
    case 'object':
      break;
  }
  if (value instanceof TemplateRecord) {
    if (value.text === undefined || (verb === 'v' && flags.sharp) || !'vsqxX'.includes(verb))
      throw new UnsupportedFormat(
        `printing a whole ${typeName(value)} by %${flags.sharp ? '#' : ''}${verb} is not supported; print one of its fields`,
      );
    return formatText(value.text, verb, flags);
  }
  if (verb === 'v' && flags.sharp) throw new UnsupportedFormat('printing a list or a map by %#v is not supported');
  if (value instanceof TemplateMap) {
    const pairs = value
      .sorted()
      .map(([key, each]) => `${formatValue(key, verb, flags)}:${formatValue(each, verb, flags)}`);
    return `map[${pairs.join(' ')}]`;
  }
  if (isList(value)) return `[${value.map((each) => formatValue(each, verb, flags)).join(' ')}]`;
  return bad(value, verb, flags);
}

/** The value as %v shows it, under the flags of the verb that does not fit. */
const bad = (value: Value, verb: string, flags: Flags): string =>
  `%!${verb}(${typeName(value)}=${shownByV(value, flags)})`;
const shownByV = (value: Value, flags: Flags): string =>
  formatKnown(value, 'v', { ...flags, sharp: flags.sharp && typeof value === 'number' });

function pad(text: string, flags: Flags): string {
  const missing = (flags.width ?? 0) - [...text].length;
  if (missing <= 0) return text;
  return flags.minus ? text + ' '.repeat(missing) : (flags.zero ? '0' : ' ').repeat(missing) + text;
}

function formatText(value: string, verb: string, flags: Flags): string {
  const cut = flags.precision === undefined ? value : [...value].slice(0, flags.precision).join('');
  switch (verb) {
    case 'v':
      return flags.sharp ? pad(quote(cut), flags) : pad(cut, flags);
    case 's':
      return pad(cut, flags);
    case 'q':
      if (flags.sharp && canBackquote(cut)) return pad(`\`${cut}\``, flags);
      return pad(quote(cut, '"', flags.plus), flags);
    case 'x':
    case 'X':
      return pad(hexText(value, verb, flags), flags);
    default:
      return bad(value, verb, flags);
  }
}

function hexText(value: string, verb: 'x' | 'X', flags: Flags): string {
  const bytes = Buffer.from(value).subarray(0, flags.precision);
  if (bytes.length === 0) return '';
  const prefix = flags.sharp ? '0x' : '';
  const shown = flags.space
    ? [...bytes].map((byte) => prefix + byte.toString(16).padStart(2, '0')).join(' ')
    : prefix + bytes.toString('hex');
  return verb === 'X' ? shown.toUpperCase() : shown;
}

function formatInteger(value: bigint, verb: string, flags: Flags): string {
  switch (verb) {
    case 'v':
    case 'd':
      return digits(value, 10, '', flags);
    case 'x':
      return digits(value, 16, flags.sharp ? '0x' : '', flags);
    case 'X':
      return digits(value, 16, flags.sharp ? '0x' : '', flags).toUpperCase();
    case 'c':
      return pad(character(value), flags);
    case 'q':
      return pad(quote(character(value), "'", flags.plus), flags);
    case 'U':
      return unicode(value, flags);
    default:
      return bad(value, verb, flags);
  }
}

function digits(value: bigint, base: 10 | 16, prefix: string, flags: Flags): string {
  const sign = value < 0n ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  const magnitude = value < 0n ? -value : value;
  if (flags.precision === 0 && value === 0n) return ' '.repeat(flags.width ?? 0);
  // A zero flag fills the width after the sign; a precision takes its place.
  const wanted = flags.precision ?? (flags.zero ? (flags.width ?? 0) - sign.length : 0);
  const text = sign + prefix + magnitude.toString(base).padStart(wanted, '0');
  return pad(text, { ...flags, zero: false });
}

const isCodePoint = (value: bigint): boolean =>
  value >= 0n && value <= 0x10ffffn && !(value >= 0xd800n && value < 0xe000n);
const character = (value: bigint): string => (isCodePoint(value) ? String.fromCodePoint(Number(value)) : '\uFFFD');

function unicode(value: bigint, flags: Flags): string {
  if (value < 0n) throw new UnsupportedFormat('%U of a negative number is not supported');
  const shown = `U+${value
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(4, flags.precision ?? 0), '0')}`;
  const glyph =
    flags.sharp && isCodePoint(value) && quote(character(value), "'") === `'${character(value)}'`
      ? ` '${character(value)}'`
      : '';
  return pad(shown + glyph, { ...flags, zero: false });
}

function formatNumber(value: number, verb: string, flags: Flags): string {
  if (verb === 'x' || verb === 'X') throw new UnsupportedFormat('%x of a float is not supported');
  if (verb !== 'v' && verb !== 'e' && verb !== 'f' && verb !== 'g') return bad(value, verb, flags);
  if (flags.sharp) throw new UnsupportedFormat(`the flag # of %${verb} is not supported for floats`);
  const precision = verb === 'e' || verb === 'f' ? (flags.precision ?? 6) : flags.precision;
  const text = formatFloat(value, verb === 'v' ? 'g' : verb, precision);
  const [sign, magnitude] = text.startsWith('-')
    ? ['-', text.slice(1)]
    : [flags.plus ? '+' : flags.space ? ' ' : '', text];
  if (flags.zero && flags.width !== undefined) return sign + magnitude.padStart(flags.width - sign.length, '0');
  return pad(sign + magnitude, { ...flags, zero: false });
}
