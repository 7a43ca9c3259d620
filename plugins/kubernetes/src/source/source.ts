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
import { KubeClient, type KubeConnection, type Random } from '@gitops-reverser/toolkit-kube';
import type { ResourcePolicy } from './policy.js';
import { Schemas } from './schemas.js';
import { CollectionStream, type ServerTraits } from './stream.js';
import { SurfaceLoop } from './surface-loop.js';
import { Triggers } from './triggers.js';

export interface KubernetesSourceOptions {
  readonly connection: KubeConnection;
  /** The cluster our own objects live in: there, changes of definitions trigger a scan at once. */
  readonly locality: 'local' | 'remote';
  readonly policy: ResourcePolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: Random;
}

export function createKubernetesSource(options: KubernetesSourceOptions): Source & Lifecycle {
  const { connection, locality, policy, clock, logger, random = Math.random } = options;
  const client = new KubeClient(connection);
  const isLocal = locality === 'local';
  // A change of definitions here says nothing about any other cluster (30, DC-5).
  const triggers = isLocal
    ? new Triggers({ client, clock, logger, random, onChange: () => loop.trigger() })
    : undefined;
  const loop: SurfaceLoop = new SurfaceLoop({
    client,
    policy,
    isLocal,
    clock,
    logger,
    random,
    onScan: (scan) => triggers?.arm(scan),
  });
  const traits: ServerTraits = { withoutWatchList: new Set() };
  const stop = new AbortController();
  const schemas = new Schemas(client, clock, logger, stop.signal);
  let scanning: Promise<void> | undefined;

  return {
    surface(signal: AbortSignal): AsyncIterable<Surface> {
      return loop.surfaces(AbortSignal.any([signal, stop.signal]));
    },
    follow(collection: Collection, from: Cursor | undefined, signal: AbortSignal): AsyncIterable<SourceEvent> {
      const stream = new CollectionStream(
        { client, collection, clock, traits, random, onNotFound: () => loop.trigger() },
        from,
      );
      return schemas.describe(stream.events(AbortSignal.any([signal, stop.signal])), collection.type);
    },
    start() {
      scanning ??= loop.run(stop.signal);
      return Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await scanning;
      await triggers?.[Symbol.asyncDispose]();
    },
  };
}
