import { type Json, type JsonObject, isEqual, isObject, textOf, fillable } from '../object.js';
import { type Shape, childShape, itemShape } from '../schema/shape.js';
import { refuse } from '../status.js';

/**
 * Strategic merge: lists with a merge key merge by it, other lists are replaced. Understands `$patch: replace|delete|merge`,
 * `$deleteFromPrimitiveList/x`, `$setElementOrder/x` and `$retainKeys`.
 */
export function applyStrategicPatch(object: JsonObject, patch: JsonObject, shape: Shape): JsonObject {
  const directive = patch['$patch'];
  if (directive === 'replace') return without(patch, '$patch');
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge')
    throw refuse.badRequest(`unknown patch type "${String(directive)}" in $patch: expected replace, delete or merge`);
  let found = fillable(object);

  const retained = patch['$retainKeys'];
  if (Array.isArray(retained))
    found = Object.fromEntries(Object.entries(found).filter(([key]) => retained.includes(key)));
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      const field = key.slice('$deleteFromPrimitiveList/'.length);
      const current = found[field];
      if (Array.isArray(current) && Array.isArray(value))
        found[field] = current.filter((item: Json) => !value.some((gone: Json) => isEqual(gone, item)));
    }
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$') || value === undefined) continue;
    if (value === null) {
      delete found[key];
      continue;
    }
    const field = shape.fields?.get(key);
    found[key] = patchedValue(
      found[key],
      value,
      childShape(shape, key),
      field?.mergeKey,
      patch[`$setElementOrder/${key}`],
    );
  }
  // An order without a patch of the list itself still orders it.
  for (const [key, order] of Object.entries(patch)) {
    const field = key.startsWith('$setElementOrder/') ? key.slice('$setElementOrder/'.length) : undefined;
    const current = field === undefined ? undefined : found[field];
    if (field !== undefined && patch[field] === undefined && Array.isArray(current))
      found[field] = ordered(current, order, shape.fields?.get(field)?.mergeKey ?? '', current);
  }
  return found as JsonObject;
}

function patchedValue(
  current: Json | undefined,
  patch: Json,
  shape: Shape,
  mergeKey: string | undefined,
  order: Json | undefined,
): Json {
  if (isObject(patch)) return applyStrategicPatch(isObject(current) ? current : {}, patch, shape);
  if (!Array.isArray(patch)) return patch;
  const list = patch as readonly Json[];
  const existing = Array.isArray(current) ? (current as readonly Json[]) : [];
  if (mergeKey === undefined) return list.filter((item) => !isDirective(item));
  if (mergeKey === '') {
    const added = list.filter((item) => !existing.some((one) => isEqual(one, item)));
    return ordered([...existing, ...added], order ?? list, '', existing);
  }
  if (list.some((item) => isObject(item) && item['$patch'] === 'replace'))
    return list.filter((item) => !isDirective(item));
  const itemOf = itemShape(shape);
  let result: Json[] = [...existing];
  for (const item of list) {
    if (!isObject(item))
      throw refuse.badRequest(`strategic merge patch: every item of a list merged by "${mergeKey}" must be an object`);
    const key = item[mergeKey];
    if (key === undefined)
      throw refuse.badRequest(`map: ${Object.keys(item).join(', ')} does not contain declared merge key: ${mergeKey}`);
    const same = (one: Json) => isObject(one) && isEqual(one[mergeKey], key);
    if (item['$patch'] === 'delete') result = result.filter((one) => !same(one));
    else if (result.some(same))
      result = result.map((one) => (same(one) ? applyStrategicPatch(one as JsonObject, item, itemOf) : one));
    else result.push(applyStrategicPatch({}, item, itemOf));
  }
  return ordered(result, order ?? list.filter((item) => !isDirective(item)), mergeKey, existing);
}

function isDirective(item: Json): boolean {
  return isObject(item) && textOf(item['$patch']) !== '';
}

/**
 * Items the order names stand in that order; items only the server has are woven in before the first item they preceded.
 *
 * @param existing the order the server had
 */
function ordered(items: readonly Json[], order: Json | undefined, mergeKey: string, existing: readonly Json[]): Json[] {
  if (!Array.isArray(order)) return [...items];
  const identity = (item: Json): Json | undefined =>
    mergeKey === '' ? item : isObject(item) ? item[mergeKey] : undefined;
  const same = (a: Json, b: Json) => isEqual(identity(a), identity(b));
  const named = (order as readonly Json[]).flatMap((one) => items.filter((item) => same(item, one)));
  const serverOnly = items.filter((item) => !named.includes(item));
  const rank = (item: Json) => existing.findIndex((one) => same(one, item));
  const sorted = [...serverOnly].sort((a, b) => rank(a) - rank(b));
  const result: Json[] = [];
  for (const item of named) {
    for (let next = sorted[0]; next !== undefined && rank(item) >= 0 && rank(next) < rank(item); next = sorted[0])
      result.push(sorted.shift() as Json);
    result.push(item);
  }
  return [...result, ...sorted];
}

function without(object: JsonObject, key: string): JsonObject {
  const copy = fillable(object);
  delete copy[key];
  return copy as JsonObject;
}
