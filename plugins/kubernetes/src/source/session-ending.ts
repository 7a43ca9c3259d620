import type { Collection, StreamTrouble } from '@gitops-reverser/kernel-api';
import { isExpired, isKubeError, jitter, type Random, type WatchFrame } from '@gitops-reverser/toolkit-kube';

/** How a session ended, and how the next one may start. */
export type Ending =
  | { readonly kind: 'stopped' }
  /** An ordinary end. */
  | {
      readonly kind: 'resume';
      readonly afterMs: number;
      readonly doubtful: boolean;
    }
  /** The cursor is worth nothing: it is never asked for again. */
  | { readonly kind: 'replay' }
  | {
      readonly kind: 'wait';
      readonly trouble: StreamTrouble;
      readonly message: string;
      readonly atLeastMs: number;
      /** The store may have gone back meanwhile: it is asked before the cursor is trusted (30, 2.4.1). */
      readonly doubtful: boolean;
      readonly notFound: boolean;
    };

export interface EndingFacts {
  readonly collection: Collection;
  readonly random: Random;
  /** What the server was asked for. */
  readonly timeoutMs: number;
  /** It streamed long enough for its end to be ordinary. */
  readonly isHealthy: boolean;
  /** There is one that the server may be unhappy about. */
  readonly hasCursor: boolean;
}

// A server's clock and ours need not agree to the millisecond on when a time-out is over.
const TIMEOUT_SLACK_MS = 2_000;
/** Streams that end together, as when their server stops or is cut off, come back spread over this and their rung (FC-WCH-2). */
export const SPREAD_MS = 2_000;

/** `configmaps in shop`, `deployments.apps`. */
export function titleOf({ type, namespace }: Collection): string {
  const resource = resourceOf(type);
  return namespace === undefined ? resource : `${resource} in ${namespace}`;
}

const resourceOf = ({ group, resource }: Collection['type']): string =>
  group === '' ? resource : `${resource}.${group}`;

export function afterEnd(frame: Extract<WatchFrame, { readonly kind: 'ended' }>, facts: EndingFacts): Ending {
  const isOwnTimeout = frame.cause === 'server' && frame.aliveMs >= facts.timeoutMs - TIMEOUT_SLACK_MS;
  // Not one byte, bookmarks included: that is also how a store that went back behaves.
  const doubtful = !isOwnTimeout || frame.bytes === 0;
  if (frame.cause === 'server' && facts.isHealthy)
    return { kind: 'resume', afterMs: isOwnTimeout ? 0 : Math.round(SPREAD_MS * facts.random()), doubtful };
  const alive = `ended after ${Math.round(frame.aliveMs / 1000)} s`;
  return {
    kind: 'wait',
    trouble: 'WatchError',
    message: frame.error?.message ?? `the watch of ${titleOf(facts.collection)} ${alive}; it is opened again`,
    atLeastMs: 0,
    doubtful: true,
    notFound: false,
  };
}

/** @throws what is no answer of a server and no failed connection: reconnecting cannot cure it */
export function afterError(thrown: unknown, facts: EndingFacts): Ending {
  if (isExpired(thrown)) return { kind: 'replay' };
  if (!isKubeError(thrown)) throw thrown;
  const { code, message, retryAfterSeconds } = thrown;
  if (facts.hasCursor && isBadCursor(code, message)) return { kind: 'replay' };
  const atLeastMs = retryAfterSeconds === undefined ? 0 : jitter(retryAfterSeconds * 1000, facts.random);
  const wait = { kind: 'wait', message, atLeastMs, doubtful: true, notFound: code === 404 } as const;
  if (code !== 403) return { ...wait, trouble: 'WatchError' };
  const { type, namespace } = facts.collection;
  const where = namespace === undefined ? 'in every namespace' : `in namespace ${namespace}`;
  return {
    ...wait,
    trouble: 'WatchNotPermitted',
    message: `the credential may not list and watch ${resourceOf(type)} ${type.namespaced ? where : 'of the cluster'}; grant it get, list and watch`,
  };
}

/** The server does not take this cursor: another attempt with it would fail for ever (30, 2.4.1). */
function isBadCursor(code: number, message: string): boolean {
  return code === 400 || code === 422 || (code === 500 && message.includes('resourceVersion'));
}
