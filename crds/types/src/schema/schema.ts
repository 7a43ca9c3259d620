import type { Rule } from './rule.js';

/**
 * The small language in which every kind is declared once. From a declaration come the CRD, the TypeScript types
 * (`StoredOf`, `EffectiveOf`), the defaults, the check of stored objects and the reference.
 */
export type Presence = 'required' | 'optional' | 'defaulted';

export interface Common {
  readonly doc: string;
  readonly rules: readonly Rule[];
  /** May not change after creation; a transition rule says so. */
  readonly immutable: boolean;
  /** Written into the CRD and into `applyDefaults`. */
  readonly default?: unknown;
  /** A block that is always there for readers, though never written into stored objects. */
  readonly block: boolean;
  /** Default that is not a constant: said in the reference, settled by whoever reads the field. */
  readonly defaultDoc?: string;
}
export interface StringNode extends Common {
  readonly type: 'string';
  readonly min?: number;
  readonly max: number;
  readonly pattern?: string;
  readonly format?: 'date-time';
  readonly values?: readonly string[];
}
export interface IntegerNode extends Common {
  readonly type: 'integer';
  readonly min?: number;
  readonly max?: number;
  readonly format?: 'int32' | 'int64';
}
export interface BooleanNode extends Common {
  readonly type: 'boolean';
}
/** A number or a text, as people write `0`. */
export interface IntOrStringNode extends Common {
  readonly type: 'int-or-string';
  readonly max: number;
  readonly pattern: string;
}
export interface ListNode extends Common {
  readonly type: 'list';
  readonly item: Node;
  readonly min?: number;
  readonly max: number;
  readonly list: 'atomic' | 'set' | 'map';
  /** For `map`: the field that identifies an item. */
  readonly key?: string;
}
export interface MapNode extends Common {
  readonly type: 'map';
  readonly value: Node;
  readonly max: number;
}
export interface ObjectNode extends Common {
  readonly type: 'object';
  readonly fields: Readonly<Record<string, Field>>;
}
export type Node = StringNode | IntegerNode | BooleanNode | IntOrStringNode | ListNode | MapNode | ObjectNode;
export interface Field {
  readonly node: Node;
  readonly presence: Presence;
}

/** `S` is what may be stored, `E` what a reader sees once the defaults are in. */
export interface Schema<S = unknown, E = unknown, P extends Presence = Presence> extends Field {
  readonly presence: P;
  readonly types?: { readonly stored: S; readonly effective: E };
}
export type StoredOf<X> = X extends Schema<infer S, unknown, Presence> ? S : never;
export type EffectiveOf<X> = X extends Schema<unknown, infer E, Presence> ? E : never;

export type Shape = Readonly<Record<string, Schema>>;
type Flat<T> = { readonly [K in keyof T]: T[K] };
type KeysWith<F extends Shape, P extends Presence> = {
  [K in keyof F]: F[K]['presence'] extends P ? K : never;
}[keyof F];
export type StoredShape<F extends Shape> = Flat<
  { readonly [K in KeysWith<F, 'required'>]: StoredOf<F[K]> } & {
    readonly [K in KeysWith<F, 'optional' | 'defaulted'>]?: StoredOf<F[K]>;
  }
>;
export type EffectiveShape<F extends Shape> = Flat<
  { readonly [K in KeysWith<F, 'required' | 'defaulted'>]: EffectiveOf<F[K]> } & {
    readonly [K in KeysWith<F, 'optional'>]?: EffectiveOf<F[K]>;
  }
>;

interface Extra {
  readonly rules?: readonly Rule[];
}
const common = (doc: string, extra: Extra): Pick<Common, 'doc' | 'rules' | 'immutable' | 'block'> => ({
  doc,
  rules: extra.rules ?? [],
  immutable: false,
  block: false,
});
const required = <S, E = S>(node: Node): Schema<S, E, 'required'> => ({ node, presence: 'required' });

export interface StringOptions extends Extra {
  readonly min?: number;
  readonly max: number;
  readonly pattern?: string;
}
export const string = (doc: string, options: StringOptions): Schema<string, string, 'required'> => {
  const { rules, ...rest } = options;
  return required({ type: 'string', ...common(doc, rules === undefined ? {} : { rules }), ...rest });
};
/** One of a closed set of words. */
export const oneOf = <const V extends readonly string[]>(
  doc: string,
  values: V,
): Schema<V[number], V[number], 'required'> =>
  required({ type: 'string', ...common(doc, {}), values, max: Math.max(...values.map((value) => value.length)) });
/** An instant, RFC 3339. */
export const time = (doc: string): Schema<string, string, 'required'> =>
  required({ type: 'string', ...common(doc, {}), format: 'date-time', max: 64 });
export const integer = (
  doc: string,
  options: { readonly min?: number; readonly max?: number; readonly format?: 'int32' | 'int64' } = {},
): Schema<number, number, 'required'> => required({ type: 'integer', ...common(doc, {}), ...options });
/** A quantity that is never negative. */
export const count = (doc: string): Schema<number, number, 'required'> => integer(doc, { min: 0, format: 'int64' });
export const boolean = (doc: string): Schema<boolean, boolean, 'required'> =>
  required({ type: 'boolean', ...common(doc, {}) });
export const intOrString = (
  doc: string,
  options: Extra & { readonly max: number; readonly pattern: string },
): Schema<number | string, number | string, 'required'> => {
  const { rules, ...rest } = options;
  return required({ type: 'int-or-string', ...common(doc, rules === undefined ? {} : { rules }), ...rest });
};

interface ListOptions extends Extra {
  readonly min?: number;
  readonly max: number;
}
type Many<X> = Schema<readonly StoredOf<X>[], readonly EffectiveOf<X>[], 'required'>;
const listOf = <X extends Schema>(
  doc: string,
  item: X,
  options: ListOptions,
  kind: Pick<ListNode, 'list' | 'key'>,
): Many<X> => {
  const { rules, ...rest } = options;
  return required({
    type: 'list',
    ...common(doc, rules === undefined ? {} : { rules }),
    ...rest,
    ...kind,
    item: item.node,
  });
};
export const list = <X extends Schema>(doc: string, item: X, options: ListOptions): Many<X> =>
  listOf(doc, item, options, { list: 'atomic' });
/** A list without repetition. */
export const set = <X extends Schema>(doc: string, item: X, options: ListOptions): Many<X> =>
  listOf(doc, item, options, { list: 'set' });
/** A list whose items are told apart by one of their fields. */
export const keyedList = <X extends Schema>(doc: string, item: X, key: string, options: ListOptions): Many<X> =>
  listOf(doc, item, options, { list: 'map', key });
export const map = <X extends Schema>(
  doc: string,
  value: X,
  options: Extra & { readonly max: number },
): Schema<Readonly<Record<string, StoredOf<X>>>, Readonly<Record<string, EffectiveOf<X>>>, 'required'> => {
  const { rules, ...rest } = options;
  return required({ type: 'map', ...common(doc, rules === undefined ? {} : { rules }), ...rest, value: value.node });
};
export const object = <const F extends Shape>(
  doc: string,
  fields: F,
  extra: Extra = {},
): Schema<StoredShape<F>, EffectiveShape<F>, 'required'> => required({ type: 'object', ...common(doc, extra), fields });

const changed = <S, E, P extends Presence>(
  schema: Schema<S, E>,
  change: Partial<Common>,
  presence: P,
): Schema<S, E, P> => ({
  node: { ...schema.node, ...change },
  presence,
});
/** May be left out; then nothing stands in its place. `defaultDoc` says what that means. */
export const optional = <S, E>(schema: Schema<S, E>, defaultDoc?: string): Schema<S, E, 'optional'> =>
  changed(schema, defaultDoc === undefined ? {} : { defaultDoc }, 'optional');
/** May be left out; the API server and `applyDefaults` write `value`. */
export const withDefault = <S, E>(schema: Schema<S, E>, value: NoInfer<S>): Schema<S, E, 'defaulted'> =>
  changed(schema, { default: value }, 'defaulted');
/** May be left out; readers see it filled from the defaults of its fields, stored objects stay as written. */
export const block = <S, E>(schema: Schema<S, E>): Schema<S, E, 'defaulted'> =>
  changed(schema, { block: true }, 'defaulted');
/** May not change after creation. The transition rule stands on an object around it. */
export const immutable = <S, E, P extends Presence>(schema: Schema<S, E, P>): Schema<S, E, P> =>
  changed(schema, { immutable: true }, schema.presence);
/** The same shape, described for the place where it stands. */
export const described = <S, E, P extends Presence>(schema: Schema<S, E, P>, doc: string): Schema<S, E, P> =>
  changed(schema, { doc }, schema.presence);
