import { KubeError } from './errors.js';

/** All objects of one type, in one namespace or (absent) in all of them or in the cluster scope. */
export interface CollectionPath {
  /** Empty for core types. */
  readonly group: string;
  readonly version: string;
  /** The plural, as served. */
  readonly resource: string;
  readonly namespace?: string;
}

export interface ObjectPath extends CollectionPath {
  readonly name: string;
  readonly subresource?: string;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The path below the server's own prefix; names keep their case. */
export function toUrlPath(path: CollectionPath | ObjectPath): string {
  const parts =
    path.group === ''
      ? ['api', segment('version', path.version)]
      : ['apis', segment('group', path.group), segment('version', path.version)];
  if (path.namespace !== undefined) parts.push('namespaces', segment('namespace', path.namespace));
  parts.push(segment('resource', path.resource));
  if ('name' in path) {
    parts.push(segment('name', path.name));
    if (path.subresource !== undefined) parts.push(segment('subresource', path.subresource));
  }
  return `/${parts.join('/')}`;
}

export function toQueryString(query: Query): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  const said = search.toString();
  return said === '' ? '' : `?${said}`;
}

/** A name that would change the path is refused: it could reach another object, or another workspace. */
function segment(what: string, value: string): string {
  // Names of objects: apimachinery IsValidPathSegmentName.
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new KubeError({
      code: 0,
      reason: 'InvalidRequest',
      retry: 'never',
      message: `the ${what} ${JSON.stringify(value)} cannot be part of a request path: expected a name that is not empty, not "." or "..", and without "/" and "%"`,
    });
  }
  return encodeURIComponent(value).replaceAll('%3A', ':');
}
