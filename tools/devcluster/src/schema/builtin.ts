import type { Json } from '../object.js';
import { messageTable } from './messages.js';
import { type Field, type ScalarType, type Shape, anyShape } from './shape.js';

/** One row of the table: a field as protobuf numbers it and JSON names it. */
export interface MessageField {
  readonly number: number;
  /** `~`: its own fields appear in the parent's JSON. */
  readonly name: string;
  readonly type: string;
  readonly flags: ReadonlySet<string>;
  readonly keys: readonly string[] | undefined;
  readonly mergeKey: string | undefined;
}
export interface Message {
  readonly name: string;
  readonly atomic: boolean;
  readonly fields: readonly MessageField[];
}

function parseTable(): ReadonlyMap<string, Message> {
  const messagesByName = new Map<string, { name: string; atomic: boolean; fields: MessageField[] }>();
  let open: { name: string; atomic: boolean; fields: MessageField[] } | undefined;
  for (const line of messageTable.split('\n')) {
    if (line === '') continue;
    if (line[0] !== ' ') {
      const [name, flag] = line.split(' ');
      open = { name: name as string, atomic: flag === 'atomic', fields: [] };
      messagesByName.set(open.name, open);
      continue;
    }
    const [number, name, type, ...flags] = line.trim().split(' ');
    const keys = flags.find((flag) => flag.startsWith('keys='));
    const merge = flags.find((flag) => flag === 'merge' || flag.startsWith('merge='));
    open?.fields.push({
      number: Number(number),
      name: name as string,
      type: type as string,
      flags: new Set(flags),
      keys: keys?.slice(5).split(','),
      mergeKey: merge === undefined ? undefined : merge.slice(6),
    });
  }
  return messagesByName;
}

let messages: ReadonlyMap<string, Message> | undefined;
export function messageOf(name: string): Message | undefined {
  return (messages ??= parseTable()).get(name);
}

const scalarTypes = new Set<string>([
  'string',
  'bool',
  'int',
  'double',
  'bytes',
  'time',
  'quantity',
  'intorstring',
  'duration',
]);
const shapesByType = new Map<string, Shape>();

/** The shape of a type of the table: a message, a scalar, `[]T` or `map:T`. */
export function shapeOfType(type: string): Shape {
  let shape = shapesByType.get(type);
  if (shape === undefined) {
    shape = makeShape(type);
    shapesByType.set(type, shape);
  }
  return shape;
}

function makeShape(type: string): Shape {
  if (scalarTypes.has(type)) return { kind: 'scalar', atomic: true, scalar: type as ScalarType };
  if (type === 'raw' || type === 'fields') return { ...anyShape, atomic: true };
  if (type === 'wrapped') return { kind: 'list', atomic: true, item: () => shapeOfType('string') };
  if (type.startsWith('[]')) return { kind: 'list', atomic: true, item: () => shapeOfType(type.slice(2)) };
  if (type.startsWith('map:')) return { kind: 'map', atomic: false, item: () => shapeOfType(type.slice(4)) };
  const message = messageOf(type);
  if (message === undefined) throw new Error(`schema table: no message ${type}`);
  const fields = new Map<string, Field>();
  for (const field of message.fields) {
    if (field.name === '~') for (const [name, inner] of shapeOfType(field.type).fields ?? []) fields.set(name, inner);
    else fields.set(field.name, toField(field));
  }
  return { kind: 'object', atomic: message.atomic, fields, structName: type.slice(type.lastIndexOf('.') + 1) };
}

const zeroByType: Readonly<Record<string, Json>> = {
  string: '',
  bool: false,
  int: 0,
  double: 0,
  quantity: '0',
  intorstring: 0,
};

function toField(field: MessageField): Field {
  return {
    name: field.name,
    shape: () => fieldShape(field),
    // A field without omitempty stands in every object as well, if only as zero.
    always: field.flags.has('always') || field.flags.has('keep'),
    ...(field.flags.has('keep') ? { zero: zeroByType[field.type] ?? null } : {}),
    dropsZero: !field.flags.has('ptr') && !field.flags.has('keep') && !field.flags.has('always'),
    ...(field.mergeKey === undefined ? {} : { mergeKey: field.mergeKey }),
  };
}

const shapesByField = new WeakMap<MessageField, Shape>();
function fieldShape(field: MessageField): Shape {
  const plain = shapeOfType(field.type);
  if (field.keys === undefined && !field.flags.has('set') && !field.flags.has('atomic')) return plain;
  let shape = shapesByField.get(field);
  if (shape === undefined) {
    shape = field.flags.has('atomic')
      ? { ...plain, atomic: true }
      : {
          ...plain,
          atomic: false,
          ...(field.keys === undefined
            ? { isSet: true }
            : { keys: field.keys, ...(field.keys.includes('protocol') ? { keyDefaults: { protocol: 'TCP' } } : {}) }),
        };
    shapesByField.set(field, shape);
  }
  return shape;
}

/** `apps/v1.Deployment` with the two fields every object has. */
export function objectShape(message: string): Shape {
  const inner = shapeOfType(message);
  return { ...inner, fields: new Map<string, Field>([...typeFields, ...(inner.fields ?? [])]) };
}

const typeFields: readonly (readonly [string, Field])[] = ['kind', 'apiVersion'].map((name) => [
  name,
  { name, shape: () => shapeOfType('string'), always: false, dropsZero: true },
]);

export const metadataShape = (): Shape => shapeOfType('meta/v1.ObjectMeta');
