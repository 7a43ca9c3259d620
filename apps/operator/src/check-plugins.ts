import {
  isReverserError,
  messageOf,
  targetSettings,
  type Clock,
  type Logger,
  type Metrics,
} from '@gitops-reverser/kernel-api';
import { openKernel, PluginsBroken, type TokenOffer } from '@gitops-reverser/kernel-core';
import { clusterLocality, kubeConnection } from '@gitops-reverser/toolkit-kube';
import type { Configuration } from './config/configuration.js';
import { BUILT_IN, pluginEntries } from './plugins.js';

/** Values clusters and targets are given by the reconcilers that open them. */
export const OFFERS: readonly TokenOffer[] = [
  { token: kubeConnection, by: 'the KubeProvider reconciler' },
  { token: clusterLocality, by: 'the KubeProvider reconciler' },
  { token: targetSettings, by: 'the GitTarget reconciler' },
];

export interface CheckRequest {
  readonly configuration: Configuration;
  readonly configFolder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Loads the plugins as a start would, and lets go of them. @returns every problem */
export async function checkPlugins(request: CheckRequest): Promise<readonly string[]> {
  const { configuration, configFolder: from, ...ports } = request;
  try {
    const kernel = await openKernel({
      entries: pluginEntries(configuration),
      builtIn: BUILT_IN,
      from,
      offers: OFFERS,
      ...ports,
    });
    await kernel.close(5_000);
    return [];
  } catch (error) {
    if (error instanceof PluginsBroken) return error.problems.map((problem: unknown) => messageOf(problem));
    if (isReverserError(error)) return [error.message];
    throw error;
  }
}
