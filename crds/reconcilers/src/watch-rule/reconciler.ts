import { collectionKey, type Clock, type TargetStatus } from '@gitops-reverser/kernel-api';
import type { Gate } from '@gitops-reverser/crd-types';
import type { Findings } from '../controller.js';
import { streamsGate, streamsPatienceMs } from '../git-target/gates.js';
import { streamsStatus } from '../git-target/report.js';
import type { RuleFacts } from '../git-target/rules.js';
import type { Grants } from '../grants.js';
import { keyFor, type Declared, type Objects } from '../objects.js';
import { NOT_JUDGED, type Readiness } from '../readiness.js';
import { storedProblem } from '../validated.js';

type RuleKind = 'WatchRule' | 'ClusterWatchRule';
/** A type that is not served is waited for this long before a person is asked (chapter 10, section 6). */
const NOT_SERVED_PATIENCE_MS = 300_000;

export interface RuleReconcilerOptions {
  readonly objects: Objects;
  readonly grants: Grants;
  readonly clock: Clock;
  target(key: string): { readonly status: TargetStatus | undefined; readonly readiness: Readiness };
  facts(target: string, rule: string): RuleFacts | undefined;
}

/** Reports on one rule of either kind; what it selects was decided with its target's plan. */
export class RuleReconciler<K extends RuleKind> {
  readonly #kind: K;
  readonly #options: RuleReconcilerOptions;
  readonly #notServedSince = new Map<string, number>();

  constructor(kind: K, options: RuleReconcilerOptions) {
    this.#kind = kind;
    this.#options = options;
  }

  async forget(key: string): Promise<void> {
    this.#notServedSince.delete(key);
    this.#options.grants.forget(`WatchRule ${key}:`);
  }

  async reconcile(object: Declared<RuleKind>, key: string): Promise<Findings<K>> {
    // Both kinds have the same conditions but one, which only a WatchRule contributes.
    return (await this.#findings(object, key)) as unknown as Findings<K>;
  }

  async #findings(object: Declared<RuleKind>, key: string): Promise<Findings<'WatchRule'>> {
    const invalid = storedProblem(this.#kind, object);
    if (invalid !== undefined) return { gates: [invalid] };
    const target = targetOf(object);
    if (this.#options.objects.get('GitTarget', target) === undefined) {
      return {
        gates: [
          {
            type: 'Validated',
            status: 'False',
            reason: 'GitTargetNotFound',
            message: `spec.gitTargetRef: GitTarget ${target} does not exist; create it or name another`,
          },
        ],
      };
    }
    const gates: Gate<'WatchRule'>[] = [
      { type: 'Validated', status: 'True', reason: 'Succeeded', message: 'the declaration can be used' },
    ];
    const { status, readiness } = this.#options.target(target);
    const facts = this.#options.facts(target, `${object.kind} ${key}`);
    if (this.#kind === 'WatchRule' && facts !== undefined) gates.push(authorizedGate(facts));
    gates.push({
      type: 'GitTargetReady',
      status: readiness.status,
      reason: readiness.reason,
      message: `GitTarget ${target}: ${readiness.message}`,
      level: readiness.level,
    } as Gate<'WatchRule'>);
    const collections = facts?.planned.collections ?? [];
    const keys = new Set(collections.map(collectionKey));
    const streams = (status?.streams ?? []).filter(({ collection }) => keys.has(collectionKey(collection)));
    let requeueAfterMs: number | undefined;
    if (facts !== undefined) {
      const { gate, waitMs } = this.#resolvedGate(key, facts);
      const now = this.#options.clock.now();
      const waits = [waitMs, streamsPatienceMs(streams, now)].filter((ms) => ms !== undefined);
      if (waits.length > 0) requeueAfterMs = Math.min(...waits);
      gates.push(gate);
      // What is not resolved so far selects neither nothing nor anything.
      if (facts.planned.reason !== 'AwaitingDiscovery') gates.push(streamsGate(streams, collections.length, now));
    }
    return {
      gates,
      status: { streams: streamsStatus(streams, collections.length) },
      isEarly: readiness === NOT_JUDGED,
      ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
    };
  }

  #resolvedGate(key: string, { planned }: RuleFacts): { readonly gate: Gate<'WatchRule'>; readonly waitMs?: number } {
    const { status, reason, message } = planned;
    const gate = { type: 'ResourcesResolved', status, reason, message };
    if (reason !== 'ResourcesNotServed') {
      this.#notServedSince.delete(key);
      return { gate: gate as Gate<'WatchRule'> };
    }
    const now = this.#options.clock.now().getTime();
    const since = this.#notServedSince.get(key) ?? now;
    this.#notServedSince.set(key, since);
    const left = since + NOT_SERVED_PATIENCE_MS - now;
    return left <= 0
      ? { gate: { ...gate, level: 'stalled' } as Gate<'WatchRule'> }
      : { gate: { ...gate, level: 'progress' } as Gate<'WatchRule'>, waitMs: left };
  }
}

export function targetOf(rule: Declared<RuleKind>): string {
  const { name } = rule.spec.gitTargetRef;
  const own = rule.metadata.namespace ?? '';
  return keyFor(
    rule.kind === 'ClusterWatchRule' ? (rule.spec as Declared<'ClusterWatchRule'>['spec']).gitTargetRef.namespace : own,
    name,
  );
}

function authorizedGate({ authorized }: RuleFacts): Gate<'WatchRule'> {
  const { status, reason, message, isStarted } = authorized;
  const level = status === 'Unknown' ? { level: isStarted ? 'none' : 'progress' } : {};
  return { type: 'SourceNamespaceAuthorized', status, reason, message, ...level } as Gate<'WatchRule'>;
}
