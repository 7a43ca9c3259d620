import { type Json, type JsonObject, isObject, fillable } from '../object.js';

/** RFC 7396: objects merge, `null` removes, everything else replaces. */
export function applyMergePatch(object: JsonObject, patch: JsonObject): JsonObject {
  const found = fillable(object);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete found[key];
    else if (value !== undefined) found[key] = merged(found[key], value);
  }
  return found as JsonObject;
}

function merged(target: Json | undefined, patch: Json): Json {
  return isObject(patch) ? applyMergePatch(isObject(target) ? target : {}, patch) : patch;
}
