import {
  messageOf,
  type Attribution,
  type Attributor,
  type Clock,
  type Logger,
  type ObservedChange,
} from '@gitops-reverser/kernel-api';
import type { Authorship } from './item.js';

export interface Question {
  /** Known at once when there is nobody to ask. */
  readonly answer: Authorship | Promise<Authorship>;
  /** Nobody wants to know any more. */
  abort(): void;
}

export interface Asking {
  readonly attributors: readonly { readonly plugin: string; readonly instance: Attributor }[];
  readonly clock: Clock;
  readonly graceMs: number;
  readonly logger: Logger;
}

const OFF: Question = { answer: { outcome: 'not_attempted' }, abort: () => undefined };

/**
 * Asks every attributor at once; the first that names an actor wins. Silence at the deadline, a fault and "unresolved" all end
 * unresolved; without attributors the question is not asked.
 */
export function ask(asking: Asking, change: ObservedChange, signal: AbortSignal): Question {
  const { attributors, clock, graceMs, logger } = asking;
  if (attributors.length === 0) return OFF;
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  if (signal.aborted) stop.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const deadline = new Date(clock.now().getTime() + graceMs);

  const answer = new Promise<Authorship>((resolve) => {
    let waiting = attributors.length;
    const settle = (author: Authorship): void => {
      resolve(author);
      signal.removeEventListener('abort', onAbort);
      stop.abort();
    };
    const heard = (attribution: Attribution): void => {
      waiting -= 1;
      if (attribution.kind === 'actor') settle({ outcome: 'resolved', actor: attribution.actor });
      else if (waiting === 0) settle({ outcome: 'unresolved' });
    };
    for (const { plugin, instance } of attributors) {
      attempt(() => instance.attribute(change, deadline, stop.signal)).then(heard, (error: unknown) => {
        if (!stop.signal.aborted)
          logger.warn({ plugin, err: messageOf(error) }, 'an attributor failed; the change stays unresolved');
        heard({ kind: 'unresolved', reason: 'AttributorFailed' });
      });
    }
    void clock.sleep(graceMs, stop.signal).then(() => settle({ outcome: 'unresolved' }));
  });
  return { answer, abort: onAbort };
}

/** A plugin may throw before it returns its promise. */
const attempt = async <T>(act: () => Promise<T>): Promise<T> => act();
