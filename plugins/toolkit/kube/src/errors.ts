import { ReverserError, isReverserError, type Retry } from '@gitops-reverser/kernel-api';

/** Why a request had no answer at all, or one that is no answer of an API server. `code` is then 0. */
export type TransportReason =
  | 'NameNotResolved'
  | 'ConnectionRefused'
  | 'ConnectionFailed'
  | 'ConnectTimeout'
  | 'ConnectionCut'
  | 'TlsFailed'
  | 'HeadersTimeout'
  | 'RequestTimeout'
  | 'RedirectRefused'
  | 'ResponseTooLarge'
  | 'MalformedResponse'
  | 'CredentialUnavailable'
  | 'ConnectionClosed'
  | 'InvalidRequest';

export interface StatusCause {
  /** As the API server words it: `FieldValueInvalid`, `ResourceVersionTooLarge`, `FieldManagerConflict`. */
  readonly reason: string;
  readonly field: string;
}

export interface KubeErrorFacts {
  readonly reason: string;
  readonly message: string;
  /** HTTP status, or the code of the Status in an ERROR event; 0 when there was no answer. */
  readonly code: number;
  readonly retry?: Retry;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly StatusCause[];
  readonly cause?: unknown;
}

/** A request the API server refused, or that never reached one. Never carries object bodies, tokens or URL credentials. */
export class KubeError extends ReverserError {
  readonly code: number;
  /** Seconds the server asks us to wait, from the Status or the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined;
  readonly causes: readonly StatusCause[];

  constructor(facts: KubeErrorFacts) {
    super({
      reason: facts.reason,
      retry: facts.retry ?? retryOf(facts.code),
      message: facts.message,
      details: {
        code: facts.code,
        ...(facts.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: facts.retryAfterSeconds }),
        ...(facts.causes === undefined || facts.causes.length === 0 ? {} : { causes: facts.causes }),
      },
      cause: facts.cause,
    });
    this.code = facts.code;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.causes = facts.causes ?? [];
  }
}

/** Only what the caller sent is worth changing; everything else may be cured by time or by somebody granting a right. */
function retryOf(code: number): Retry {
  return code === 400 || code === 405 || code === 406 || code === 415 || code === 422 ? 'when-changed' : 'backoff';
}

export function isKubeError(value: unknown): value is KubeError {
  return isReverserError(value) && 'code' in value && 'causes' in value;
}

export const isNotFound = (value: unknown): value is KubeError => isKubeError(value) && value.code === 404;
export const isConflict = (value: unknown): value is KubeError =>
  isKubeError(value) && value.code === 409 && value.reason === 'Conflict';
export const isAlreadyExists = (value: unknown): value is KubeError =>
  isKubeError(value) && value.reason === 'AlreadyExists';

/** FC-WCH-3: an HTTP 410 and an ERROR event with code 410 or reason `Expired` mean the same: this version is gone for good. */
export function isExpired(value: unknown): value is KubeError {
  return isKubeError(value) && (value.code === 410 || value.reason === 'Expired' || value.reason === 'Gone');
}

/**
 * The server does not do WatchList: it names a parameter of ours in a 400, 403 or 422 (30, 2.4 step 3). Servers before 1.27 know
 * nothing of `sendInitialEvents` and refuse only the `resourceVersionMatch` beside it.
 */
export function isWatchListRefusal(value: unknown): value is KubeError {
  if (!isKubeError(value) || ![400, 403, 422].includes(value.code)) return false;
  return value.message.includes('sendInitialEvents') || value.message.includes('resourceVersionMatch');
}
