import { type Json, type JsonObject, isObject, fillable } from '../object.js';
import { type JsonSchema, keepsUnknown, propertySchema } from './json-schema.js';

/** Removes what the schema does not know, and names it; sets the defaults it declares. */
export function pruneAndDefault(
  object: JsonObject,
  schema: JsonSchema,
  unknowns: { readonly paths: string[] },
): JsonObject {
  return pruned(object, schema, '', unknowns, true) as JsonObject;
}

function pruned(
  value: Json,
  schema: JsonSchema,
  path: string,
  unknowns: { readonly paths: string[] },
  isResource: boolean,
): Json {
  if (Array.isArray(value)) {
    const items = schema.items;
    return items === undefined
      ? value
      : (value as readonly Json[]).map((item, index) =>
          pruned(defaulted(item, items), items, `${path}[${index}]`, unknowns, false),
        );
  }
  if (!isObject(value)) return value;
  const found = fillable();
  const embedded = isResource || schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, child] of Object.entries(value)) {
    if (child === undefined) continue;
    const at = path === '' ? name : `${path}.${name}`;
    const inner = propertySchema(schema, name);
    if (embedded && (name === 'apiVersion' || name === 'kind' || name === 'metadata')) found[name] = child;
    else if (inner !== undefined) {
      // An explicit null of a field that allows none counts as absent, so that its default applies.
      if (child === null && inner.nullable !== true && inner.default !== undefined) continue;
      found[name] = pruned(child, inner, at, unknowns, false);
    } else if (keepsUnknown(schema) || (schema.type === undefined && schema.properties === undefined))
      found[name] = child;
    else unknowns.paths.push(at);
  }
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    if (found[name] === undefined && inner.default !== undefined)
      found[name] = pruned(inner.default, inner, `${path}.${name}`, unknowns, false);
  }
  return found as JsonObject;
}

function defaulted(item: Json, schema: JsonSchema): Json {
  return item === null && schema.nullable !== true && schema.default !== undefined ? schema.default : item;
}
