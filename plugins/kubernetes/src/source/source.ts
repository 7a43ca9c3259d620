import type {
  Clock,
  Collection,
  Cursor,
  Lifecycle,
  Logger,
  Source,
  SourceEvent,
  Surface,
} from '@gitops-reverser/kernel-api';
import { Informer, KubeClient, type KubeConnection, type Random } from '@gitops-reverser/toolkit-kube';
import type { ResourcePolicy } from './policy.js';
import { CollectionStream, type ServerTraits } from './stream.js';
import { SurfaceLoop } from './surface-loop.js';

export interface KubernetesSourceOptions {
  readonly connection: KubeConnection;
  /** The cluster our own objects live in: there, changes of definitions trigger a scan at once. */
  readonly locality: 'local' | 'remote';
  readonly policy: ResourcePolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: Random;
}

/** Types whose change means that discovery changed (chapter 30, DC-4). */
const TRIGGERS = [
  { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' },
] as const;

export function createKubernetesSource(options: KubernetesSourceOptions): Source & Lifecycle {
  const client = new KubeClient(options.connection);
  const loop = new SurfaceLoop({
    client,
    policy: options.policy,
    isLocal: options.locality === 'local',
    clock: options.clock,
    logger: options.logger,
  });
  const traits: ServerTraits = { hasWatchList: true };
  const stop = new AbortController();
  const tasks: Promise<void>[] = [];

  return {
    surface(signal: AbortSignal): AsyncIterable<Surface> {
      return loop.surfaces(AbortSignal.any([signal, stop.signal]));
    },
    follow(collection: Collection, from: Cursor | undefined, signal: AbortSignal): AsyncIterable<SourceEvent> {
      const stream = new CollectionStream(
        {
          client,
          collection,
          clock: options.clock,
          traits,
          random: options.random ?? Math.random,
          onNotFound: () => loop.trigger(),
        },
        from,
      );
      return stream.events(AbortSignal.any([signal, stop.signal]));
    },
    async start() {
      tasks.push(loop.run(stop.signal));
      if (options.locality === 'local') tasks.push(watchTriggers(client, loop, options.logger, stop.signal));
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(tasks);
    },
  };
}

/** Follows definitions where the catalog shows them; where they are not served or not permitted, the timer alone serves. */
async function watchTriggers(
  client: KubeClient,
  loop: SurfaceLoop,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const informers = new Map<string, Informer>();
  try {
    for await (const { types } of loop.surfaces(signal)) {
      for (const path of TRIGGERS) {
        const isServed = types.some(
          ({ type, verdict }) => verdict !== 'refused' && type.group === path.group && type.resource === path.resource,
        );
        const running = informers.get(path.resource);
        if (running?.trouble?.reason === 'Forbidden') {
          logger.info({ resource: path.resource }, 'may not watch definitions; discovery is scanned by timer');
          informers.delete(path.resource);
          await running.close();
        } else if (isServed && running === undefined) {
          const informer = new Informer({ client, path });
          informer.onChange(() => loop.trigger());
          informers.set(path.resource, informer);
        }
      }
    }
  } finally {
    await Promise.all([...informers.values()].map((informer) => informer.close()));
  }
}
