import type { IncomingMessage } from 'node:http';
import { parseJson } from '../json.js';
import type { Json, JsonObject } from '../object.js';
import { decodeProtobuf } from '../protobuf/decoder.js';
import { isObject } from '../object.js';
import { refuse } from '../status.js';

export type ParseYaml = (text: string) => unknown;

// 3 MiB: the API server's limit of a request body.
const limitBytes = 3 * 1024 * 1024;

export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw refuse.tooLarge(limitBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function mediaTypeOf(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The body of a create, an update or a delete. */
export function readObjectBody(bytes: Buffer, mediaType: string, parseYaml: ParseYaml, kind: string): JsonObject {
  const found =
    mediaType === 'application/vnd.kubernetes.protobuf'
      ? decodeProtobuf(bytes)
      : mediaType === 'application/yaml'
        ? yamlBody(bytes, parseYaml)
        : mediaType === '' || mediaType === 'application/json'
          ? jsonBody(bytes, kind)
          : undefined;
  if (found === undefined)
    throw refuse.unsupportedMediaType(mediaType, [
      'application/json',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
    ]);
  if (!isObject(found))
    throw refuse.badRequest(
      `the body must be a ${kind === '' ? 'JSON object' : kind}, found ${Array.isArray(found) ? 'a list' : typeof found}`,
    );
  return found;
}

export function jsonBody(bytes: Buffer, kind: string): Json {
  try {
    return parseJson(bytes.toString());
  } catch (fault) {
    // The parser's own words may quote the body: only their first clause goes out.
    const why =
      fault instanceof SyntaxError ? (/^[A-Za-z ]+/.exec(fault.message)?.[0].trim() ?? 'not JSON') : 'not JSON';
    throw refuse.badRequest(
      `the object provided is unrecognized (must be of type ${kind === '' ? 'object' : kind}): couldn't get version/kind; json parse error: ${why}`,
    );
  }
}

export function yamlBody(bytes: Buffer, parseYaml: ParseYaml): Json {
  try {
    return parseYaml(bytes.toString()) as Json;
  } catch {
    throw refuse.badRequest('error converting YAML to JSON: the body is not valid YAML');
  }
}
