import type { Json, JsonObject, MutableJson } from './object.js';

export interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusInit {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: JsonObject;
  readonly isPlainText?: boolean;
  /** Seconds, as header `Retry-After` and in the details. */
  readonly retryAfterSeconds?: number;
  /** The fresh, inconsistent token inside a 410 for an expired page token. */
  readonly continueToken?: string;
}

/** A refusal in the words of the Kubernetes API: what goes on the wire is `body`. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly body: JsonObject;
  readonly retryAfterSeconds: number | undefined;
  readonly isPlainText: boolean;

  constructor(init: StatusInit) {
    super(init.message);
    this.name = 'ApiError';
    this.code = init.code;
    this.reason = init.reason;
    this.retryAfterSeconds = init.retryAfterSeconds;
    this.isPlainText = init.isPlainText === true;
    const details: JsonObject | undefined =
      init.retryAfterSeconds === undefined
        ? init.details
        : { ...init.details, retryAfterSeconds: init.retryAfterSeconds };
    const body: MutableJson = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: init.continueToken === undefined ? {} : { continue: init.continueToken },
      status: 'Failure',
      message: init.message,
    };
    if (init.reason !== '') body['reason'] = init.reason;
    if (details !== undefined) body['details'] = details;
    body['code'] = init.code;
    this.body = body as JsonObject;
  }
}

export interface ResourceName {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

function qualified(type: ResourceName): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}
function details(type: ResourceName, name: string, kind = type.plural): MutableJson {
  const found: MutableJson = {};
  if (name !== '') found['name'] = name;
  if (type.group !== '') found['group'] = type.group;
  found['kind'] = kind;
  return found;
}

export const refuse = {
  /** Outside every API the server answers in plain text. */
  pageNotFound: () => new ApiError({ code: 404, reason: '', message: '404 page not found', isPlainText: true }),
  notFound: (type: ResourceName, name: string) =>
    new ApiError({
      code: 404,
      reason: 'NotFound',
      message: `${qualified(type)} "${name}" not found`,
      details: details(type, name) as JsonObject,
    }),
  noSuchPath: () =>
    new ApiError({
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    }),
  exists: (type: ResourceName, name: string) =>
    new ApiError({
      code: 409,
      reason: 'AlreadyExists',
      message: `${qualified(type)} "${name}" already exists`,
      details: details(type, name) as JsonObject,
    }),
  conflict: (type: ResourceName, name: string, why: string) =>
    new ApiError({
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${why}`,
      details: details(type, name) as JsonObject,
    }),
  modified: (type: ResourceName, name: string) =>
    refuse.conflict(
      type,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    ),
  forbidden: (type: ResourceName, name: string, why: string, causes?: readonly StatusCause[]) =>
    new ApiError({
      code: 403,
      reason: 'Forbidden',
      message: `${qualified(type)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
      details: {
        ...details(type, name),
        ...(causes === undefined ? {} : { causes: causes as unknown as Json }),
      } as JsonObject,
    }),
  invalid: (type: ResourceName, name: string, causes: readonly StatusCause[]) => {
    const lines = causes.map((cause) =>
      cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`,
    );
    const joined = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
    return new ApiError({
      code: 422,
      reason: 'Invalid',
      message: `${type.kind}${type.group === '' ? '' : `.${type.group}`} "${name}" is invalid: ${joined}`,
      details: { ...details(type, name, type.kind), causes: causes as unknown as Json } as JsonObject,
    });
  },
  badRequest: (message: string) => new ApiError({ code: 400, reason: 'BadRequest', message }),
  unauthorized: () => new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }),
  expired: (message: string, continueToken?: string) =>
    new ApiError({ code: 410, reason: 'Expired', message, ...(continueToken === undefined ? {} : { continueToken }) }),
  methodNotAllowed: () =>
    new ApiError({
      code: 405,
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
      details: {},
    }),
  notAcceptable: (supported: readonly string[]) =>
    new ApiError({
      code: 406,
      reason: 'NotAcceptable',
      message: `406: Not Acceptable\n\nAvailable representations: ${supported.join(', ')}`,
      details: {},
    }),
  unsupportedMediaType: (found: string, supported: readonly string[]) =>
    new ApiError({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')} (found ${found === '' ? 'none' : found})`,
    }),
  tooLarge: (limitBytes: number) =>
    new ApiError({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity too large: limit is ${limitBytes}`,
    }),
  tooManyRequests: (retryAfterSeconds: number) =>
    new ApiError({
      code: 429,
      reason: 'TooManyRequests',
      message: 'Too many requests, please try again later.',
      retryAfterSeconds,
    }),
  unavailable: (message: string, retryAfterSeconds?: number) =>
    new ApiError({
      code: 503,
      reason: 'ServiceUnavailable',
      message,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    }),
  internal: (message: string) =>
    new ApiError({ code: 500, reason: 'InternalError', message: `Internal error occurred: ${message}` }),
  /** meta/v1 list and watch options are refused without an object name. */
  invalidOptions: (causes: readonly StatusCause[]) => {
    const joined = causes.map((cause) => `${cause.field ?? ''}: ${cause.message}`);
    return new ApiError({
      code: 422,
      reason: 'Invalid',
      message: `ListOptions.meta.k8s.io "" is invalid: ${joined.length === 1 ? joined[0] : `[${joined.join(', ')}]`}`,
      details: { group: 'meta.k8s.io', kind: 'ListOptions', causes: causes as unknown as Json },
    });
  },
};
