import {
  clock,
  definePlugin,
  option,
  refKey,
  token,
  type Actor,
  type Attributor,
  type Clock,
  type ObjectRef,
  type ObservedChange,
} from '@gitops-reverser/kernel-api';
import { bell } from './bell.js';

export interface MemoryFact {
  readonly ref: ObjectRef;
  readonly resourceVersion: string;
  readonly actor: Actor;
  /** Default `done`. */
  readonly outcome?: 'done' | 'failed' | 'dry-run';
}

/** What is known about who did what; facts may be added while somebody waits. */
export interface MemoryFacts {
  add(fact: MemoryFact): void;
  all(): readonly MemoryFact[];
  /** Resolves when a fact is added, or on abort. */
  added(signal: AbortSignal): Promise<void>;
}

export const memoryFactList = token<MemoryFacts, 'cluster'>('memory-facts', 'cluster');

export function memoryFacts(facts: readonly MemoryFact[] = []): MemoryFacts {
  const known = [...facts];
  const changes = bell();
  return {
    add(fact) {
      known.push(fact);
      changes.ring();
    },
    all: () => known,
    added: changes.rung,
  };
}

/** An attributor that knows what a test tells it. */
export const fixedAttributor = definePlugin(
  {
    id: 'fixed-attributor',
    kernelApi: '^1.0',
    options: { evidence: option.string({ default: 'memory', doc: 'What the commit names as the evidence.' }) },
    reasons: { NoFact: 'no request that made this change became known in time; add the fact to the list' },
  },
  (on) => {
    on.attributor({
      needs: { clock, facts: memoryFactList },
      create: ({ options, needs }) => createFixedAttributor(needs.facts, needs.clock, options.evidence),
    });
  },
);

function createFixedAttributor(facts: MemoryFacts, time: Clock, evidence: string): Attributor {
  const match = (change: ObservedChange): MemoryFact | undefined =>
    facts
      .all()
      .find(
        (fact) =>
          (fact.outcome ?? 'done') === 'done' &&
          fact.resourceVersion === change.resourceVersion &&
          refKey(fact.ref) === refKey(change.ref),
      );
  return {
    async attribute(change, deadline, signal) {
      const stop = new AbortController();
      const ended = AbortSignal.any([signal, stop.signal]);
      const over = time.sleep(deadline.getTime() - time.now().getTime(), ended).then(() => stop.abort());
      try {
        for (;;) {
          const fact = match(change);
          if (fact !== undefined) return { kind: 'actor', actor: fact.actor, evidence };
          if (ended.aborted) return { kind: 'unresolved', reason: 'NoFact' };
          await facts.added(ended);
        }
      } finally {
        stop.abort();
        await over;
      }
    },
  };
}
