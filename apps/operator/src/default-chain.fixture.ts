import type { GeneratedSelection, KubeObject, Sanitized, Sanitizer } from '@gitops-reverser/kernel-api';
import { openKernel, type Kernel } from '@gitops-reverser/kernel-core';
import { sanitize } from '@gitops-reverser/kernel-pipeline';
import { fakeClock, fakeLogger, fakeMetrics, typeOf } from '@gitops-reverser/kernel-testing';
import { OFFERS } from './check-plugins.js';
import { parseConfiguration } from './config/configuration.js';
import { BUILT_IN, pluginEntries } from './plugins.js';

export const none: GeneratedSelection = { include: [], exclude: [] };

/** The sanitizers of a cluster, as the operator opens them from a configuration file. */
export interface Chain extends AsyncDisposable {
  readonly kernel: Kernel;
  readonly sanitizers: readonly Sanitizer[];
  sanitize(object: KubeObject, selection?: GeneratedSelection): Sanitized;
}

export async function openChain(file: Readonly<Record<string, unknown>> = {}): Promise<Chain> {
  const parsed = parseConfiguration({
    flags: new Map(),
    environment: { POD_NAMESPACE: 'reverser-system' },
    file: { version: 1, ...file },
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  const kernel = await openKernel({
    entries: pluginEntries(parsed.configuration),
    builtIn: BUILT_IN,
    from: import.meta.dirname,
    offers: OFFERS,
    clock: fakeClock(),
    logger: fakeLogger(),
    metrics: fakeMetrics(),
  });
  const cluster = await kernel.scopes.open({ scope: 'cluster', id: 'home', given: [], leases: [] });
  const sanitizers = cluster.instances('sanitizer').map(({ instance }) => instance);
  return {
    kernel,
    sanitizers,
    sanitize(object, selection = none) {
      const cleaned = sanitize(sanitizers, object, typeOf(object), selection);
      if (cleaned.kind === 'failed') throw new Error(cleaned.reason);
      return cleaned;
    },
    [Symbol.asyncDispose]: () => kernel.close(1_000),
  };
}
