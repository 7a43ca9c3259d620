import fastJsonPatch from 'fast-json-patch';
import { type Json, type JsonObject, isObject } from '../object.js';
import { ApiError, refuse } from '../status.js';

/** RFC 6902. A failed `test` or a missing path is the sender's problem: 422, as the API server answers. */
export function applyJsonPatch(object: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch)) throw refuse.badRequest('error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch (expected a list of operations)');
  const operations = patch as unknown as Parameters<typeof fastJsonPatch.applyPatch>[1];
  try {
    const { newDocument } = fastJsonPatch.applyPatch(structuredClone(object), operations, true, true, true);
    if (!isObject(newDocument)) throw refuse.badRequest('the patch does not leave an object');
    return newDocument;
  } catch (fault) {
    if (fault instanceof ApiError) throw fault;
    const found = fault as { readonly name?: string; readonly index?: number };
    const operation = typeof found.index === 'number' ? (patch as readonly JsonObject[])[found.index] : undefined;
    const where = operation === undefined ? '' : `: operation ${String(operation['op'])} at ${String(operation['path'])}`;
    throw new ApiError({
      code: 422,
      reason: 'Invalid',
      message: `the server rejected our request due to an error in our request: ${wordsByName[found.name ?? ''] ?? 'the patch cannot be applied'}${where}`,
    });
  }
}

const wordsByName: Readonly<Record<string, string>> = {
  TEST_OPERATION_FAILED: 'testing value failed',
  OPERATION_PATH_UNRESOLVABLE: 'the path does not exist',
  OPERATION_FROM_UNRESOLVABLE: 'the from path does not exist',
  OPERATION_PATH_CANNOT_ADD: 'unable to add at the path',
  OPERATION_OP_INVALID: 'unknown operation',
  OPERATION_PATH_INVALID: 'the path is not valid',
  OPERATION_VALUE_REQUIRED: 'the operation needs a value',
};
