/** What a path asks for, before anybody looks whether it exists. */
export interface ResourceRequest {
  readonly kind: 'resource';
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  /** `''` for a collection. */
  readonly name: string;
  readonly subresource: string;
}
export interface PathRequest {
  readonly kind: 'path';
  readonly verb: string;
  readonly path: string;
}
export type RequestInfo = ResourceRequest | PathRequest;

const namespaceSubresources = new Set(['status', 'finalize']);

export function parseRequest(method: string, url: URL): RequestInfo {
  const segments = url.pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode);
  const verb = method.toLowerCase();
  const path: PathRequest = { kind: 'path', verb, path: url.pathname };
  const isCore = segments[0] === 'api';
  if ((!isCore && segments[0] !== 'apis') || segments.length < (isCore ? 3 : 4)) return path;
  const group = isCore ? '' : (segments[1] as string);
  const version = segments[isCore ? 1 : 2] as string;
  let rest = segments.slice(isCore ? 2 : 3);
  let namespace: string | undefined;
  // `namespaces/x` is the object, `namespaces/x/status` its subresource, everything else is inside of it.
  if (
    rest[0] === 'namespaces' &&
    rest.length > 2 &&
    !(rest.length === 3 && namespaceSubresources.has(rest[2] as string))
  ) {
    namespace = rest[1] as string;
    rest = rest.slice(2);
  }
  const [resource = '', name = '', ...sub] = rest;
  const isWatch = /^(true|1)$/.test(url.searchParams.get('watch') ?? '');
  const resolved = resourceVerb(method, name, isWatch);
  if (resolved === undefined) return path;
  return { kind: 'resource', verb: resolved, group, version, resource, namespace, name, subresource: sub.join('/') };
}

function resourceVerb(method: string, name: string, isWatch: boolean): ResourceRequest['verb'] | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return isWatch ? 'watch' : name === '' ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      return undefined;
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
