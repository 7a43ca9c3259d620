import type {
  ClusterHandle,
  ClusterId,
  ClusterStatus,
  Listener,
  Logger,
  OpenScope,
  Placed,
  Sanitizer,
  Source,
  Surface,
} from '@gitops-reverser/kernel-api';
import { announcer, type Announcer } from './announce.js';

/** Whatever borrows a cluster and must let go of it before it closes. */
export interface Borrower {
  stopStreams(): Promise<void>;
}

/** One source cluster: its plugins, and what it serves as last judged. */
export class OpenedCluster implements ClusterHandle {
  readonly id: ClusterId;
  readonly scope: OpenScope;
  readonly source: Source;
  readonly sanitizers: readonly Sanitizer[];
  readonly attributors: readonly Placed<'attributor'>[];
  readonly targets = new Set<Borrower>();
  readonly #announcer: Announcer;
  readonly #closed: () => void;
  #surface: Surface | undefined;

  constructor(id: ClusterId, scope: OpenScope, source: Source, logger: Logger, closed: () => void) {
    this.id = id;
    this.scope = scope;
    this.source = source;
    this.sanitizers = scope.instances('sanitizer').map(({ instance }) => instance);
    this.attributors = scope.instances('attributor');
    this.#announcer = announcer(logger);
    this.#closed = closed;
    scope.run('surface', async (signal) => {
      for await (const surface of source.surface(signal)) {
        if (signal.aborted) return;
        this.#surface = surface;
        this.#announcer.changed();
      }
    });
  }

  /** A loop that ends with the cluster. */
  run(name: string, loop: (signal: AbortSignal) => Promise<void>): void {
    this.scope.run(name, loop);
  }

  status(): ClusterStatus {
    return this.#surface === undefined ? {} : { surface: this.#surface };
  }

  onChange(listener: Listener): Disposable {
    return this.#announcer.onChange(listener);
  }

  async close(): Promise<void> {
    this.#closed();
    await Promise.all([...this.targets].map((target) => target.stopStreams()));
    await this.scope.close();
  }
}
