import { type Json, type JsonObject, type MutableJson, isObject } from '../object.js';
import { stringifyJson } from '../json.js';
import { type Shape, childShape, itemShape } from '../schema/shape.js';

/** One step down into a granular value. */
export interface Step {
  readonly step: string;
  readonly value: Json;
  readonly shape: Shape;
  /** The step exists by declaration, not because somebody added it (a field of a struct). */
  readonly isDeclared: boolean;
  /** The server writes this field in any case. */
  readonly isAlways: boolean;
}

/** Whether the parts of a value can have different owners. */
export function isGranular(value: Json | undefined, shape: Shape): value is JsonObject | readonly Json[] {
  if (shape.atomic) return false;
  if (Array.isArray(value)) return shape.kind === 'list' && (shape.keys !== undefined || shape.isSet === true);
  return isObject(value) && shape.kind !== 'list' && shape.kind !== 'scalar';
}

/** The identity of a list item among its siblings: `k:{…}` or `v:…`. */
export function itemStep(item: Json, shape: Shape): string {
  if (shape.isSet === true) return `v:${stringifyJson(item)}`;
  const keys: MutableJson = {};
  for (const key of [...(shape.keys ?? [])].sort()) {
    const value = (isObject(item) ? item[key] : undefined) ?? shape.keyDefaults?.[key];
    if (value !== undefined) keys[key] = value;
  }
  return `k:${stringifyJson(keys)}`;
}

export function stepsOf(value: JsonObject | readonly Json[], shape: Shape): Step[] {
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    return list.map((item) => ({
      step: itemStep(item, shape),
      value: item,
      shape: itemShape(shape),
      isDeclared: false,
      isAlways: false,
    }));
  }
  const found: Step[] = [];
  for (const [name, child] of Object.entries(value as JsonObject)) {
    if (child === undefined) continue;
    const field = shape.fields?.get(name);
    found.push({
      step: `f:${name}`,
      value: child,
      shape: childShape(shape, name),
      isDeclared: field !== undefined,
      isAlways: field?.always === true,
    });
  }
  return found;
}
