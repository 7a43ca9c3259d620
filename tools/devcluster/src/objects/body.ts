import {
  type JsonObject,
  type KubeObject,
  type MutableJson,
  type ObjectMeta,
  asKubeObject,
  isObject,
  textOf,
} from '../object.js';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.js';
import { metadataShape } from '../schema/builtin.js';
import { ApiError, refuse } from '../status.js';
import type { WriteOptions } from './core.js';

export interface ReadBody {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

/** Checks that a body is of the type the URL names and reads it as that type. */
export function readBody(
  body: JsonObject,
  type: ResourceType,
  validation: WriteOptions['fieldValidation'],
  isPatch = false,
): ReadBody {
  const expected = apiVersionOf(type);
  const apiVersion = textOf(body['apiVersion']);
  const kind = textOf(body['kind']);
  if (kind === '' && type.message === undefined)
    throw refuse.badRequest("Object 'Kind' is missing in the request body");
  if (kind !== '' && kind !== type.kind)
    throw refuse.badRequest(
      `${kind} in version "${apiVersion === '' ? expected : apiVersion}" cannot be handled as a ${type.kind}: no kind "${kind}" is served at this path`,
    );
  if (apiVersion !== '' && apiVersion !== expected)
    throw refuse.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  if (body['metadata'] !== undefined && body['metadata'] !== null && !isObject(body['metadata']))
    throw refuse.badRequest(`${type.kind}: metadata must be an object`);

  const unknowns = { paths: [] as string[] };
  const read = type.read(
    { ...body, kind: type.kind, apiVersion: expected, metadata: isObject(body['metadata']) ? body['metadata'] : {} },
    unknowns,
  );
  const named = unknowns.paths.map((path) => `unknown field "${path}"`);
  if (named.length > 0 && validation === 'Strict') throw strictError(type, expected, named, isPatch);
  const object = asKubeObject(read);
  if (object === undefined) throw refuse.badRequest(`the body is no ${type.kind}`);
  return { object, warnings: validation === 'Ignore' ? [] : named };
}

function strictError(type: ResourceType, version: string, problems: readonly string[], isPatch: boolean): ApiError {
  const message = `strict decoding error: ${problems.join(', ')}`;
  return isPatch
    ? new ApiError({
        code: 422,
        reason: 'Invalid',
        message: ` "" is invalid: patch: Invalid value: (omitted): ${message}`,
        details: { causes: [{ reason: 'FieldValueInvalid', message: `Invalid value: ${message}`, field: 'patch' }] },
      })
    : refuse.badRequest(`${type.kind} in version "${version}" cannot be handled as a ${type.kind}: ${message}`);
}

/** Metadata in the API server's own order; absent and empty parts left out. */
export function orderMetadata(metadata: MutableJson): ObjectMeta {
  const found: MutableJson = {};
  for (const name of metadataShape().fields?.keys() ?? [])
    if (metadata[name] !== undefined) found[name] = metadata[name];
  return found as ObjectMeta;
}
