import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { KubeError, type StatusCause } from './errors.js';

// 1_024: what a condition message may hold (10, ST-5); a longer text helps nobody.
const MAX_MESSAGE = 1_024;

const REASON_BY_CODE: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export interface AnswerFacts {
  readonly code: number;
  /** What was asked, without query: `GET /api/v1/namespaces/a/configmaps/b`. */
  readonly asked: string;
  readonly retryAfter?: string | undefined;
  /** Reads the time a `Retry-After` date is measured against. */
  readonly now: Date;
}

/** The error of an answer outside 2xx. `body` is the parsed answer when it was JSON. */
export function toStatusError(facts: AnswerFacts, body: unknown): KubeError {
  const status = isStatus(body) ? body : undefined;
  const code = facts.code;
  const reason =
    text(status?.['reason']) || REASON_BY_CODE[code] || (code >= 500 ? 'InternalError' : 'UnexpectedAnswer');
  const said = status === undefined ? '' : withoutValues(text(status['message']));
  const retryAfterSeconds = toRetryAfter(status, facts.retryAfter, facts.now);
  return new KubeError({
    code,
    reason,
    message: cut(`${facts.asked}: ${said === '' ? `the server answered ${code}` : said}`),
    causes: toCauses(status),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** The error inside an ERROR event of a watch. */
export function toEventError(asked: string, object: unknown, now: Date): KubeError {
  if (!isStatus(object)) {
    return new KubeError({ code: 500, reason: 'InternalError', message: `${asked}: an ERROR event without a Status` });
  }
  const code = typeof object['code'] === 'number' ? object['code'] : 500;
  return toStatusError({ code, asked, now }, object);
}

function isStatus(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && (value as JsonObject)['kind'] === 'Status';
}

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

function toCauses(status: JsonObject | undefined): readonly StatusCause[] {
  const details = status?.['details'];
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return [];
  const causes = (details as JsonObject)['causes'];
  if (!Array.isArray(causes)) return [];
  return causes.slice(0, 20).flatMap((cause: JsonValue) => {
    if (typeof cause !== 'object' || cause === null) return [];
    const { reason, field } = cause as JsonObject;
    return [{ reason: text(reason), field: text(field) }];
  });
}

function toRetryAfter(status: JsonObject | undefined, header: string | undefined, now: Date): number | undefined {
  const details = status?.['details'];
  const said =
    typeof details === 'object' && details !== null ? (details as JsonObject)['retryAfterSeconds'] : undefined;
  if (typeof said === 'number' && Number.isFinite(said) && said > 0) return said;
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header.trim());
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000));
}

/**
 * The API server quotes refused values in its messages, whole objects included (`spec.template: Invalid value: {...}: field is
 * immutable`). Values stay out of our conditions and logs; field and rule stay in.
 */
export function withoutValues(message: string): string {
  let kept = '';
  let rest = message.replaceAll(/\s+/g, ' ');
  for (;;) {
    const found = /\b(Invalid|Unsupported|Duplicate|Not supported|Too long|Too many) ?(value)?: /.exec(rest);
    if (found === null) return redacted(kept + rest);
    kept += `${rest.slice(0, found.index)}${found[1]}${found[2] === undefined ? '' : ' value'}: `;
    rest = afterValue(rest.slice(found.index + found[0].length));
  }
}

/** What follows the value at the start of `rest`, without the colon between them. */
function afterValue(rest: string): string {
  const quoted = /^"(?:[^"\\]|\\.)*"(?:: )?/.exec(rest);
  return quoted === null ? rest.slice(valueEnd(rest)).replace(/^: /, '') : rest.slice(quoted[0].length);
}

/** Index of the first `: ` outside quotes and brackets: the value may be a number, JSON or Go syntax. */
function valueEnd(rest: string): number {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < rest.length; at++) {
    const char = rest[at];
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    else if (char === ':' && rest[at + 1] === ' ' && depth === 0) return at;
    if (depth < 0) return at;
  }
  return rest.length;
}

/** User parts of URLs and bearer tokens, should a server repeat them (FC-SEC-4). */
export function redacted(message: string): string {
  return message
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']*@/gi, '$1***@')
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, '$1 ***');
}

const cut = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1)}…`;
