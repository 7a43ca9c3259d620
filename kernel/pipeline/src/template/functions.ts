import { sprint, sprintf, sprintln } from './format.js';
import { escapeHtml, escapeJs, escapeQuery } from './quote.js';
import { compareText, isList, isTrue, TemplateMap, TemplateRecord, typeName, type Value } from './values.js';

/** `and` and `or` are the evaluator's: they decide which of their arguments are evaluated at all. */
const LAZY = ['and', 'or'];

interface Function {
  readonly least: number;
  readonly most: number;
  call(values: readonly Value[]): Value;
}

const MANY = Number.POSITIVE_INFINITY;
/** What the escaping functions see; a nil has no value to escape. */
const textOf = (values: readonly Value[]): string => sprint(values.map((value) => value ?? '<no value>'));

const FUNCTIONS: ReadonlyMap<string, Function> = new Map<string, Function>([
  ['not', { least: 1, most: 1, call: ([value = null]) => !isTrue(value) }],
  ['eq', { least: 1, most: MANY, call: ([first = null, ...rest]) => isEqual(first, rest) }],
  ['ne', { least: 2, most: 2, call: ([a = null, b = null]) => !isEqual(a, [b]) }],
  ['lt', { least: 2, most: 2, call: ([a = null, b = null]) => isLess(a, b) }],
  ['le', { least: 2, most: 2, call: ([a = null, b = null]) => isLess(a, b) || isEqual(a, [b]) }],
  ['gt', { least: 2, most: 2, call: ([a = null, b = null]) => !(isLess(a, b) || isEqual(a, [b])) }],
  ['ge', { least: 2, most: 2, call: ([a = null, b = null]) => !isLess(a, b) }],
  ['len', { least: 1, most: 1, call: ([value = null]) => lengthOf(value) }],
  [
    'index',
    { least: 1, most: MANY, call: ([value = null, ...keys]) => keys.reduce(elementOf, checkedIndexable(value)) },
  ],
  ['slice', { least: 1, most: 4, call: ([value = null, ...bounds]) => sliceOf(value, bounds) }],
  ['print', { least: 0, most: MANY, call: sprint }],
  ['println', { least: 0, most: MANY, call: sprintln }],
  [
    'printf',
    { least: 1, most: MANY, call: ([format = null, ...values]) => sprintf(mustText(format, 'printf'), values) },
  ],
  ['html', { least: 0, most: MANY, call: (values) => escapeHtml(textOf(values)) }],
  ['js', { least: 0, most: MANY, call: (values) => escapeJs(textOf(values)) }],
  ['urlquery', { least: 0, most: MANY, call: (values) => escapeQuery(textOf(values)) }],
]);

export const isFunction = (name: string): boolean => LAZY.includes(name) || FUNCTIONS.has(name);

/** @throws Error that says what is wrong with the arguments */
export function callFunction(name: string, values: readonly Value[]): Value {
  const found = FUNCTIONS.get(name);
  if (found === undefined) throw new Error(`function ${JSON.stringify(name)} not defined`);
  if (values.length < found.least || values.length > found.most) {
    const want =
      found.least === found.most
        ? String(found.least)
        : values.length < found.least
          ? `at least ${found.least}`
          : `at most ${found.most}`;
    throw new Error(`wrong number of args for ${name}: want ${want} got ${values.length}`);
  }
  return found.call(values);
}

function mustText(value: Value, whose: string): string {
  if (typeof value === 'string') return value;
  throw new Error(`wrong type for the argument of ${whose}: expected string, got ${typeName(value)}`);
}

/** Kinds that can be compared with one another; undefined: not at all. */
function comparableKind(value: Value): string | undefined {
  return typeof value === 'object' ? undefined : typeof value;
}

function isEqual(first: Value, others: readonly Value[]): boolean {
  if (others.length === 0) throw new Error('missing argument for comparison');
  const kind = comparableKind(first);
  if (kind === undefined && first !== null) throw new Error(`non-comparable type ${typeName(first)}`);
  for (const other of others) {
    if (comparableKind(other) === undefined && other !== null)
      throw new Error(`non-comparable type ${typeName(other)}`);
    if (first === null || other === null) {
      if (first === other) return true;
      continue;
    }
    if (comparableKind(other) !== kind) throw new Error('incompatible types for comparison');
    if (first === other) return true;
  }
  return false;
}

function isLess(a: Value, b: Value): boolean {
  const [one, two] = [comparableKind(a), comparableKind(b)];
  if (one === undefined || two === undefined) throw new Error('invalid type for comparison');
  if (one !== two) throw new Error('incompatible types for comparison');
  if (typeof a === 'boolean') throw new Error('invalid type for comparison');
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b) < 0;
  return (a as bigint | number) < (b as bigint | number);
}

function lengthOf(value: Value): bigint {
  if (typeof value === 'string') return BigInt(Buffer.byteLength(value));
  if (value instanceof TemplateMap) return BigInt(value.entries.size);
  if (typeof value === 'object' && value !== null && isList(value)) return BigInt(value.length);
  throw new Error(`len of type ${typeName(value)}`);
}

function checkedIndexable(value: Value): Value {
  if (value === null) throw new Error('index of untyped nil');
  return value;
}

function elementOf(container: Value, key: Value): Value {
  if (container instanceof TemplateMap) {
    if (typeof key !== 'string') throw new Error(`a key has type ${typeName(key)}; should be string`);
    return container.entries.get(key) ?? container.zero;
  }
  if (typeof container === 'string') throw new Error('index of a string is not supported; use slice or printf');
  if (container === null || typeof container !== 'object' || container instanceof TemplateRecord || !isList(container))
    throw new Error(`can't index item of type ${typeName(container)}`);
  const at = intOf(key, container.length - 1);
  const element = container[at];
  if (element === undefined) throw new Error(`index out of range: ${at}`);
  return element;
}

function intOf(value: Value, last: number): number {
  if (typeof value !== 'bigint') throw new Error(`cannot index slice/array with type ${typeName(value)}`);
  if (value < 0n || value > BigInt(last)) throw new Error(`index out of range: ${value}`);
  return Number(value);
}

function sliceOf(value: Value, bounds: readonly Value[]): Value {
  if (value === null) throw new Error('slice of untyped nil');
  const isText = typeof value === 'string';
  if (
    !isText &&
    (typeof value !== 'object' || value instanceof TemplateMap || value instanceof TemplateRecord || !isList(value))
  )
    throw new Error(`can't slice item of type ${typeName(value)}`);
  if (isText && bounds.length === 3) throw new Error('cannot 3-index slice a string');
  const bytes = isText ? Buffer.from(value) : undefined;
  const length = bytes?.length ?? (value as readonly Value[]).length;
  const [from, to, cap] = [
    bounds[0] === undefined ? 0 : intOf(bounds[0], length),
    bounds[1] === undefined ? length : intOf(bounds[1], length),
    bounds[2] === undefined ? length : intOf(bounds[2], length),
  ];
  if (from > to) throw new Error(`invalid slice index: ${from} > ${to}`);
  if (to > cap) throw new Error(`invalid slice index: ${to} > ${cap}`);
  if (bytes === undefined) return (value as readonly Value[]).slice(from, to);
  const text = bytes.subarray(from, to).toString();
  if (Buffer.byteLength(text) !== to - from || text.includes('\uFFFD'))
    throw new Error('a slice that cuts a character in two is not supported');
  return text;
}
