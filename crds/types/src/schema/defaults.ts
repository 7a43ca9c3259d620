import { kindOf, type EffectiveSpecOf, type KindName, type SpecOf } from '../kinds/kinds.js';
import type { Field, Node } from './schema.js';

/**
 * The spec of a kind with every default in place. Pure; the only thing readers may use: stored objects need not hold
 * defaults (VA-4). A present value is never replaced, whatever it is; unknown fields stay as they are.
 */
export function applyDefaults<K extends KindName>(kind: K, spec: SpecOf<K>): EffectiveSpecOf<K> {
  return fill(kindOf(kind).spec.node, spec) as EffectiveSpecOf<K>;
}

function fill(node: Node, value: unknown): unknown {
  switch (node.type) {
    case 'list':
      return Array.isArray(value) ? value.map((item) => fill(node.item, item)) : value;
    case 'map':
      return isRecord(value)
        ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(node.value, item)]))
        : value;
    case 'object':
      return isRecord(value) ? { ...value, ...filled(node.fields, value) } : value;
    case 'string':
    case 'integer':
    case 'boolean':
    case 'int-or-string':
      return value;
  }
}

function filled(
  fields: Readonly<Record<string, Field>>,
  value: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, { node }] of Object.entries(fields)) {
    const given = value[name] ?? (node.block ? {} : structuredClone(node.default));
    if (given !== undefined) result[name] = fill(node, given);
  }
  return result;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
