import {
  commitSha,
  ReverserError,
  type BranchHandle,
  type BranchSettings,
  type BranchSpec,
  type BranchStatus,
  type ClusterHandle,
  type ClusterSpec,
  type ClusterStatus,
  type Collection,
  type Listener,
  type Runtime,
  type StreamStatus,
  type Surface,
  type TargetHandle,
  type TargetSettings,
  type TargetSpec,
  type TargetStatus,
} from '@gitops-reverser/kernel-api';
import { configMaps, deployments, namespaces, secrets, services, widgets } from '@gitops-reverser/kernel-testing';

class Announcer {
  readonly #listeners = new Set<Listener>();

  onChange(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
  changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** What a healthy cluster serves: a shop's worth of types. */
export function surfaceOf(change: Partial<Surface> = {}): Surface {
  return {
    generation: 1,
    reach: { state: 'reachable', reason: 'LocalCluster', message: 'the API server answered' },
    serverVersion: 'v1.36.0',
    types: [configMaps, secrets, services, namespaces, deployments, widgets].map((type) => ({
      type,
      singular: type.kind.toLowerCase(),
      shortNames: [],
      preferred: true,
      verdict: 'followable',
    })),
    ...change,
  };
}

export const TIP = commitSha('1'.repeat(40));

const good = (message: string) => ({ status: 'True', reason: 'Succeeded', message }) as const;
export const healthyBranch = (at: Date): BranchStatus => ({
  state: 'Idle',
  remote: { commit: TIP, lastVerifiedAt: at, verifiedBy: 'Fetch' },
  parentResolved: { status: 'True', reason: 'NotNeeded', message: 'the branch is there' },
  writable: good('the last push was accepted'),
  publishing: good('nothing waits to be published'),
  reachable: good('the repository answers'),
});

export class FakeCluster extends Announcer implements ClusterHandle {
  readonly spec: ClusterSpec;
  readonly #runtime: FakeRuntime;
  #status: ClusterStatus;

  constructor(spec: ClusterSpec, runtime: FakeRuntime, surface: Surface | undefined) {
    super();
    this.spec = spec;
    this.#runtime = runtime;
    this.#status = surface === undefined ? {} : { surface };
  }
  status(): ClusterStatus {
    return this.#status;
  }
  say(surface: Surface): void {
    this.#status = { surface };
    this.changed();
  }
  async close(): Promise<void> {
    await this.#runtime.closing('cluster', this.spec.id);
    this.#runtime.clusters.delete(this.spec.id);
  }
}

export class FakeBranch extends Announcer implements BranchHandle {
  readonly spec: BranchSpec;
  readonly #runtime: FakeRuntime;
  #status: BranchStatus;
  settings: BranchSettings;

  constructor(spec: BranchSpec, runtime: FakeRuntime, status: BranchStatus) {
    super();
    this.spec = spec;
    this.settings = spec.settings;
    this.#runtime = runtime;
    this.#status = status;
  }
  status(): BranchStatus {
    return this.#status;
  }
  say(change: Partial<BranchStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.changed();
  }
  configure(settings: BranchSettings): void {
    this.settings = settings;
    this.#runtime.log.push(`configure branch ${this.spec.id}`);
  }
  distrust(): void {
    this.#runtime.log.push(`distrust branch ${this.spec.id}`);
  }
  observe(): void {
    this.#runtime.log.push(`observe branch ${this.spec.id}`);
  }
  async close(budgetMs: number): Promise<void> {
    await this.#runtime.closing('branch', `${this.spec.id} within ${budgetMs}`);
    this.#runtime.branches.delete(this.spec.id);
  }
}

export class FakeTarget extends Announcer implements TargetHandle {
  readonly spec: TargetSpec;
  readonly #runtime: FakeRuntime;
  #status: TargetStatus;
  settings: TargetSettings;
  followed: readonly Collection[] = [];

  constructor(spec: TargetSpec, runtime: FakeRuntime, at: Date) {
    super();
    this.spec = spec;
    this.settings = spec.settings;
    this.#runtime = runtime;
    const resolved = { shape: { mode: 'Plain' }, commit: TIP, at };
    this.#status = {
      streams: [],
      folder: { state: 'Accepted', refusals: [], resolved },
      refused: [],
      skipped: [],
      plaintext: [],
    };
  }
  status(): TargetStatus {
    return this.#status;
  }
  say(change: Partial<TargetStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.changed();
  }
  /** Every followed collection in one state. */
  stream(change: Partial<StreamStatus>): void {
    this.say({ streams: this.followed.map((collection) => ({ collection, state: 'Streaming', ...change })) });
  }
  configure(settings: TargetSettings): void {
    this.settings = settings;
    this.#runtime.log.push(`configure target ${this.spec.id}`);
  }
  follow(collections: readonly Collection[]): void {
    this.followed = collections;
    this.#runtime.log.push(`target ${this.spec.id} follows ${collections.length}`);
    if (this.#runtime.streamsAtOnce) this.stream({});
  }
  resync(token: string): void {
    this.#runtime.log.push(`resync target ${this.spec.id} ${token}`);
  }
  async close(): Promise<void> {
    await this.#runtime.closing('target', this.spec.id);
    this.#runtime.targets.delete(this.spec.id);
  }
}

/** A runtime that opens and closes as the real one would, refuses what the real one refuses, and does nothing else. */
export class FakeRuntime implements Runtime {
  readonly clusters = new Map<string, FakeCluster>();
  readonly branches = new Map<string, FakeBranch>();
  readonly targets = new Map<string, FakeTarget>();
  /** What was asked of it, in order. */
  readonly log: string[] = [];
  /** What a cluster says as soon as it is open; undefined: nothing so far. */
  surface: Surface | undefined = surfaceOf();
  /** How a branch stands as soon as it is open. */
  branch: Partial<BranchStatus> = {};
  /** Followed collections stream at once. */
  streamsAtOnce = true;
  /** Runs while a target opens. */
  whileOpeningTarget: (() => Promise<void>) | undefined;
  /** Holds up closing. */
  whileClosing: ((what: string) => Promise<void>) | undefined;
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  openCluster(spec: ClusterSpec): Promise<ClusterHandle> {
    this.log.push(`open cluster ${spec.id}`);
    const { reach } = this.surface ?? {};
    const isRemote = spec.given.some(({ value }) => value === 'remote');
    const surface =
      this.surface !== undefined && reach?.state === 'reachable' && isRemote
        ? { ...this.surface, reach: { ...reach, reason: 'RemoteCluster' } }
        : this.surface;
    return Promise.resolve(opened(this.clusters, spec.id, new FakeCluster(spec, this, surface), `cluster ${spec.id}`));
  }

  openBranch(spec: BranchSpec): Promise<BranchHandle> {
    this.log.push(`open branch ${spec.id}`);
    const status = { ...healthyBranch(this.#now()), ...this.branch };
    return Promise.resolve(opened(this.branches, spec.id, new FakeBranch(spec, this, status), `branch ${spec.id}`));
  }

  async openTarget(spec: TargetSpec): Promise<TargetHandle> {
    this.log.push(`open target ${spec.id}`);
    if (!this.clusters.has(spec.cluster) || !this.branches.has(spec.branch)) {
      throw new ReverserError({
        reason: 'NotOpen',
        retry: 'when-changed',
        message: `target ${spec.id}: cluster ${spec.cluster} or branch ${spec.branch} is not open`,
      });
    }
    await this.whileOpeningTarget?.();
    return opened(this.targets, spec.id, new FakeTarget(spec, this, this.#now()), `target ${spec.id}`);
  }

  async closing(kind: string, id: string): Promise<void> {
    this.log.push(`close ${kind} ${id}`);
    await this.whileClosing?.(`${kind} ${id}`);
  }
}

function opened<T>(all: Map<string, T>, id: string, handle: T, what: string): T {
  if (all.has(id))
    throw new ReverserError({ reason: 'AlreadyOpen', retry: 'when-changed', message: `${what} is open` });
  all.set(id, handle);
  return handle;
}
