import { type Json, type JsonObject, type KubeObject, groupVersionOf, isEqual, isObject, fillable } from '../object.js';
import { type Shape, childShape, itemShape } from '../schema/shape.js';
import { ApiError } from '../status.js';
import { compare, fieldSetOf, withoutUnowned } from './comparison.js';
import { FieldSet } from './field-set.js';
import { type ManagedEntry, type Writer, isSameWriter, readManaged, stripManaged } from './managed-fields.js';
import { isGranular, itemStep } from './steps.js';

export interface Applied {
  readonly object: KubeObject;
  readonly managed: readonly ManagedEntry[];
}

/**
 * Server-side apply: the configuration is merged into the live object, fields this manager applied before and no longer
 * mentions are removed unless somebody else owns them, and a different value owned by somebody else is a conflict.
 */
export function serverSideApply(
  live: KubeObject | undefined,
  config: KubeObject,
  writer: Writer,
  force: boolean,
  shape: Shape,
): Applied {
  const base = live === undefined ? undefined : stripManaged(live);
  const intent = dropNulls(config) as KubeObject;
  refuseUndeclared(intent, shape);
  const wanted = withoutUnowned(fieldSetOf(intent, shape));
  const entries = readManaged(live);
  const mine = entries.find((entry) => isSameWriter(entry, writer, 'Apply'));
  const others = entries.filter((entry) => entry !== mine);

  const merged = base === undefined ? intent : (merge(base, intent, shape) as KubeObject);
  const changed = withoutUnowned(compare(base, merged, shape).changed);
  const conflicts = others
    .map((entry) => ({ entry, paths: entry.fields.intersection(changed).intersection(wanted) }))
    .filter(({ paths }) => !paths.isEmpty);
  if (conflicts.length > 0 && !force) throw conflictError(conflicts);

  const owned = others.reduce((set, entry) => set.union(entry.fields), new FieldSet());
  const pruned =
    mine === undefined ? merged : (prune(merged, { mine: mine.fields, wanted, owned }, shape) as KubeObject);
  const gone = base === undefined ? new FieldSet() : compare(base, pruned, shape).removed;
  const remaining = others.map((entry) => {
    const taken = conflicts.find((conflict) => conflict.entry === entry)?.paths;
    const fields = entry.fields.difference(gone);
    return { ...entry, fields: taken === undefined ? fields : fields.difference(taken) };
  });
  const isSame =
    mine !== undefined &&
    mine.fields.equals(wanted) &&
    mine.apiVersion === writer.apiVersion &&
    base !== undefined &&
    isEqual(base, pruned);
  const entry: ManagedEntry = {
    manager: writer.manager,
    operation: 'Apply',
    apiVersion: writer.apiVersion,
    time: isSame ? mine.time : writer.time,
    subresource: writer.subresource,
    fields: wanted,
  };
  return { object: pruned, managed: [...remaining, entry] };
}

/** An applied field the schema does not know cannot be owned: the API server fails as a whole. */
function refuseUndeclared(config: KubeObject, shape: Shape): void {
  const path = undeclaredPath(config, shape, '');
  if (path === undefined) return;
  const { group, version } = groupVersionOf(config.apiVersion);
  throw new ApiError({
    code: 500,
    reason: '',
    message: `failed to create typed patch object (${config.metadata.namespace ?? ''}/${config.metadata.name ?? ''}; ${group}/${version}, Kind=${config.kind}): ${path}: field not declared in schema`,
  });
}

function undeclaredPath(value: Json, shape: Shape, path: string): string | undefined {
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries()) {
      const found = undeclaredPath(item, itemShape(shape), `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  for (const [key, child] of Object.entries(value)) {
    if (child === undefined) continue;
    if (shape.kind === 'object' && shape.keepsUnknown !== true && !shape.fields?.has(key)) return `${path}.${key}`;
    const found = undeclaredPath(child, childShape(shape, key), `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function dropNulls(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(dropNulls);
  if (!isObject(value)) return value;
  const found = fillable();
  for (const [key, child] of Object.entries(value))
    if (child !== null && child !== undefined) found[key] = dropNulls(child);
  return found as JsonObject;
}

function merge(live: Json, config: Json, shape: Shape): Json {
  if (!isGranular(live, shape) || !isGranular(config, shape) || Array.isArray(live) !== Array.isArray(config))
    return config;
  if (Array.isArray(live)) {
    const result: Json[] = [...(live as readonly Json[])];
    for (const item of config as readonly Json[]) {
      const step = itemStep(item, shape);
      const index = result.findIndex((one) => itemStep(one, shape) === step);
      if (index < 0) result.push(item);
      else result[index] = merge(result[index] as Json, item, itemShape(shape));
    }
    return result;
  }
  const found = fillable(live as JsonObject);
  for (const [key, value] of Object.entries(config as JsonObject)) {
    const current = found[key];
    if (value !== undefined) found[key] = current === undefined ? value : merge(current, value, childShape(shape, key));
  }
  return found as JsonObject;
}

interface Claims {
  /** What this manager applied before. */
  readonly mine: FieldSet;
  /** What it applies now; `undefined` below a part it no longer mentions. */
  readonly wanted: FieldSet | undefined;
  /** What others own. */
  readonly owned: FieldSet | undefined;
}

/** Removes what this manager applied before and no longer mentions, all of it with what stands below, except what others own. */
function prune(value: Json, claims: Claims, shape: Shape): Json {
  if (!isGranular(value, shape)) return value;
  const keep = (step: string, child: Json, inner: Shape): readonly Json[] => {
    const mine = claims.mine.children.get(step);
    const wanted = claims.wanted?.children.get(step);
    const owned = claims.owned?.children.get(step);
    // Below a part that went, only what others own comes back.
    if (claims.wanted === undefined)
      return owned === undefined
        ? []
        : [prune(child, { mine: mine ?? new FieldSet(), wanted: undefined, owned }, inner)];
    if (mine === undefined) return [child];
    if (wanted === undefined) return owned === undefined ? [] : [prune(child, { mine, wanted, owned }, inner)];
    return [prune(child, { mine, wanted, owned }, inner)];
  };
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap((item) => keep(itemStep(item, shape), item, itemShape(shape)));
  const found = fillable();
  for (const [key, child] of Object.entries(value as JsonObject)) {
    if (child === undefined) continue;
    const [kept] = keep(`f:${key}`, child, childShape(shape, key));
    if (kept !== undefined) found[key] = kept;
  }
  return found as JsonObject;
}

function conflictError(conflicts: readonly { readonly entry: ManagedEntry; readonly paths: FieldSet }[]): ApiError {
  const rows = conflicts.flatMap(({ entry, paths }) =>
    paths.paths().map((path) => ({ manager: managerText(entry), path })),
  );
  const first = rows[0];
  const byManager = [...new Set(rows.map((row) => row.manager))].map((manager) =>
    [`conflicts with ${manager}:`, ...rows.filter((row) => row.manager === manager).map((row) => `- ${row.path}`)].join(
      '\n',
    ),
  );
  return new ApiError({
    code: 409,
    reason: 'Conflict',
    message:
      rows.length === 1 && first !== undefined
        ? `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.path}`
        : `Apply failed with ${rows.length} conflicts: ${byManager.join('\n')}`,
    details: {
      causes: rows.map((row) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${row.manager}`,
        field: row.path,
      })),
    },
  });
}

function managerText(entry: ManagedEntry): string {
  const name = `${JSON.stringify(entry.manager)}${entry.subresource === '' ? '' : ` with subresource ${JSON.stringify(entry.subresource)}`}`;
  if (entry.operation === 'Apply') return name;
  return `${name} using ${entry.apiVersion}`;
}
