import fastJsonPatch from 'fast-json-patch';
import { type Json, type JsonObject, isObject } from '../object.js';
import { ApiError, refuse } from '../status.js';

/** RFC 6902. A failed `test` or a missing path is the sender's problem: 422, as the API server answers. */
export function applyJsonPatch(object: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch))
    throw refuse.badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  const operations = patch as unknown as Parameters<typeof fastJsonPatch.applyPatch>[1];
  try {
    const { newDocument } = fastJsonPatch.applyPatch(structuredClone(object), operations, true, true, true);
    if (!isObject(newDocument)) throw refuse.badRequest('the patch does not leave an object');
    return newDocument;
  } catch (fault) {
    if (fault instanceof ApiError) throw fault;
    // The API server says no more than this either.
    throw new ApiError({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
      details: {},
    });
  }
}
