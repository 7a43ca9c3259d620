import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, type Logger, type ServedType, type Source, type Surface } from '@gitops-reverser/kernel-api';
import { ScanFailed } from '../source.js';
import { systemClock } from './system-clock.js';

export interface DiscoveryRequest {
  readonly kubeconfig?: string;
  readonly context?: string;
}

const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

/** How long a cluster may take to be judged as a whole. */
const patienceMs = 60_000;

/**
 * Which types of a cluster can be mirrored, as the operator's own source judges them. Its plugin is loaded here and nowhere else: who
 * only scans folders needs no cluster client.
 *
 * @throws ScanFailed when the plugin is not installed or the cluster does not answer
 */
export async function discover(request: DiscoveryRequest, signal: AbortSignal): Promise<Surface> {
  const { kube, kubernetes } = await loadClient();
  const path = request.kubeconfig ?? process.env['KUBECONFIG'] ?? join(homedir(), '.kube', 'config');
  const credentials = await kube.loadTrustedKubeconfig(path, {
    clock: systemClock,
    ...(request.context === undefined ? {} : { context: request.context }),
  });
  const connection = kube.openKubeConnection({ credentials, clock: systemClock });
  const options = parseOptions(kubernetes.plugin.options, undefined);
  const contribution = kubernetes.plugin.contributions().find(({ point }) => point === 'source');
  if (!options.ok || contribution === undefined) throw new ScanFailed('the plugin kubernetes offers no source');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const source = contribution.create({
    options: options.value,
    needs: { clock: systemClock, logger: quiet, connection, locality: 'remote' },
    signal: limit,
  }) as Source & { start?(signal: AbortSignal): Promise<void> } & Partial<AsyncDisposable>;
  try {
    await source.start?.(limit);
    for await (const surface of source.surface(limit)) {
      if (surface.reach.state === 'reachable') return surface;
      if (surface.reach.state === 'unreachable')
        throw new ScanFailed(`${surface.reach.reason}: ${surface.reach.message}`);
    }
  } finally {
    await source[Symbol.asyncDispose]?.();
    await connection.close();
  }
  throw new ScanFailed(`the cluster gave no complete answer within ${patienceMs / 1000} s`);
}

async function loadClient() {
  try {
    return {
      kube: await import('@gitops-reverser/toolkit-kube'),
      kubernetes: await import('@gitops-reverser/plugin-kubernetes'),
    };
  } catch (error) {
    throw new ScanFailed(
      'the mode discovery needs the packages @gitops-reverser/toolkit-kube and @gitops-reverser/plugin-kubernetes; install them beside this one',
      { cause: error },
    );
  }
}

/** One row per type, in a fixed order. */
export function typesOf({ types }: Surface): readonly ServedType[] {
  const nameOf = ({ type }: ServedType): string => `${type.group}/${type.resource}/${type.version}`;
  return [...types].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

export function* discoveryText(surface: Surface): Generator<string> {
  const rows = typesOf(surface).map(({ type, verdict, refusal }) => ({
    cells: [
      type.group === '' ? type.version : `${type.group}/${type.version}`,
      type.resource,
      type.kind,
      type.namespaced ? 'namespaced' : 'cluster',
    ],
    why: refusal === undefined ? verdict : `not followable — ${refusal.message}`,
    canBeMirrored: refusal === undefined,
  }));
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map(({ cells }) => cells[column]?.length ?? 0)));
  for (const { cells, why } of rows) yield [...cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)), why].join('  ');
  yield `${rows.filter(({ canBeMirrored }) => canBeMirrored).length} of ${rows.length} types can be mirrored`;
}
