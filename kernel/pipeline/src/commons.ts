import type { Clock, Logger } from '@gitops-reverser/kernel-api';
import type { RuntimeLimits } from './limits.js';
import type { Gauges, Meters } from './meters.js';
import type { ReplayGate } from './replay-gate.js';

/** What the whole river shares. */
export interface Commons {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly gauges: Gauges;
  readonly limits: RuntimeLimits;
  readonly gate: ReplayGate;
  readonly random: () => number;
  isSensitive(group: string, resource: string): boolean;
}
