import type { Condition, Level } from '@gitops-reverser/crd-types';

/** How a dependency stands, as its last reconcile found it. */
export interface Readiness {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly level: Extract<Level, 'ok' | 'stalled' | 'progress'>;
  readonly reason: string;
  readonly message: string;
}

export const NOT_JUDGED: Readiness = {
  status: 'Unknown',
  level: 'progress',
  reason: 'Progressing',
  message: 'not judged so far',
};

export function readinessOf(conditions: readonly Condition[] | undefined): Readiness {
  const ready = conditions?.find(({ type }) => type === 'Ready');
  if (conditions === undefined || ready === undefined) return NOT_JUDGED;
  const isStalled = conditions.some(({ type, status }) => type === 'Stalled' && status === 'True');
  const level = isStalled ? 'stalled' : ready.status === 'True' ? 'ok' : 'progress';
  return { status: ready.status, level, reason: ready.reason, message: ready.message };
}
