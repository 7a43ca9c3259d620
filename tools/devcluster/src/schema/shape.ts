import type { Json } from '../object.js';

/** What the server knows about the structure of a value: enough to merge it, to say who owns which part, and to read it. */
export type ScalarType =
  'string' | 'bool' | 'int' | 'double' | 'bytes' | 'time' | 'quantity' | 'intorstring' | 'duration';

export interface Shape {
  /** kind `object`: how errors call it. */
  readonly structName?: string;
  readonly kind: 'object' | 'map' | 'list' | 'scalar' | 'any';
  /** Merged and owned as one value. */
  readonly atomic: boolean;
  readonly scalar?: ScalarType;
  /** kind `object`: the declared fields. */
  readonly fields?: ReadonlyMap<string, Field>;
  /** kind `object`: undeclared fields are kept (schemas of custom resources that say so). */
  readonly keepsUnknown?: boolean;
  /** kind `map`: of its values; kind `list`: of its items. */
  readonly item?: () => Shape;
  /** kind `list`: items are told apart by these fields. */
  readonly keys?: readonly string[];
  /** Server-side defaults of the keys above, which are part of an item's identity. */
  readonly keyDefaults?: Readonly<Record<string, string>>;
  /** kind `list`: items are told apart by their value. */
  readonly isSet?: boolean;
}

export interface Field {
  readonly name: string;
  readonly shape: () => Shape;
  /** The server writes it even when it is empty, so its presence is nobody's doing. */
  readonly always: boolean;
  /** Zero is dropped like an absent value. */
  readonly dropsZero: boolean;
  /** What the server writes when the field is absent. */
  readonly zero?: Json;
  /** Strategic merge: lists are merged by this key (`''`: by value); `undefined` replaces them. */
  readonly mergeKey?: string;
}

export const anyShape: Shape = { kind: 'any', atomic: false };

/** A shape for whatever nobody declared: objects merge, lists are one value. */
export function childShape(shape: Shape, name: string): Shape {
  if (shape.kind === 'object') return shape.fields?.get(name)?.shape() ?? anyShape;
  if (shape.kind === 'map') return shape.item?.() ?? anyShape;
  return anyShape;
}

export function itemShape(shape: Shape): Shape {
  return shape.kind === 'list' ? (shape.item?.() ?? anyShape) : anyShape;
}
