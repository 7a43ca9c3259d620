const mark = Symbol.for('gitops-reverser.error');

/** What the caller should do: ask a human, wait for the input to change, or try again later. */
export type Retry = 'never' | 'when-changed' | 'backoff';

export interface ErrorFacts {
  /** PascalCase; the same word in the condition, the log field and the metric label. */
  readonly reason: string;
  readonly retry: Retry;
  readonly message: string;
  /** Small, safe to log: names and counts. Never object bodies, never credentials. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A fault with a name. Should not happen, or only time or a human can cure it. */
export class ReverserError extends Error {
  readonly [mark] = true;
  readonly reason: string;
  readonly retry: Retry;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = facts.reason;
    this.reason = facts.reason;
    this.retry = facts.retry;
    this.details = facts.details ?? {};
  }
}

/** Two copies of this package may be loaded, and test runners use realms: compare marks, never classes. */
export function isReverserError(value: unknown): value is ReverserError {
  return typeof value === 'object' && value !== null && mark in value;
}

export function hasReason(value: unknown, reason: string): value is ReverserError {
  return isReverserError(value) && value.reason === reason;
}

/** Reason of any thrown value: its own, or `Unexpected`. */
export function reasonOf(value: unknown): string {
  return isReverserError(value) ? value.reason : 'Unexpected';
}

export function messageOf(value: unknown): string {
  return value instanceof Error || isReverserError(value) ? value.message : String(value);
}
