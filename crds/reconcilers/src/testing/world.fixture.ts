import { ReverserError, type KubeObject, type TargetSettings } from '@gitops-reverser/kernel-api';
import type { Condition, SpecOf } from '@gitops-reverser/crd-types';
import {
  fakeClock,
  fakeLogger,
  memoryBranchStore,
  memoryRemote,
  type FakeClock,
  type FakeLogger,
} from '@gitops-reverser/kernel-testing';
import { KubeClient } from '@gitops-reverser/toolkit-kube';
import { decideOn, type Deciding, type DecidingOptions } from '../reconcilers.js';
import type { Repositories, RepositoryAccess } from '../repositories.js';
import type { Reconciled } from '../objects.js';
import { FakeRuntime } from './fake-runtime.fixture.js';
import { MemoryCluster } from './memory-cluster.fixture.js';

/** Parts of every credential in these tests: no condition, event or log line may hold one. */
export const CANARY = 'canary';

/** Git hosts in memory: every address answers, unless told otherwise. */
export class FakeRepositories implements Repositories {
  readonly probes: RepositoryAccess[] = [];
  readonly opened: Parameters<Repositories['open']>[0][] = [];
  defaultBranch: string | undefined = 'main';
  /** Probes end with this. */
  failure: { readonly reason: string; readonly message: string } | undefined;
  /** Addresses that hold this never answer. */
  hanging: string | undefined;

  async probe(access: RepositoryAccess, signal: AbortSignal): Promise<{ readonly defaultBranch?: string }> {
    this.probes.push(access);
    if (this.hanging !== undefined && access.url.includes(this.hanging)) {
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    }
    if (this.failure !== undefined) throw new ReverserError({ retry: 'backoff', ...this.failure });
    return this.defaultBranch === undefined ? {} : { defaultBranch: this.defaultBranch };
  }

  open(options: Parameters<Repositories['open']>[0]): ReturnType<Repositories['open']> {
    this.opened.push(options);
    return memoryBranchStore(memoryRemote({ files: {} }), { branch: options.branch });
  }
}

type Specs = { readonly [K in Reconciled]: SpecOf<K> };
/** One object of each kind, by the names the tests use. */
export const quickStart: Specs = {
  KubeProvider: { connection: { inCluster: {} }, allowedGitTargets: [{ namespaces: { names: ['shop'] } }] },
  GitProvider: {
    url: 'https://git.example.test/shop/state.git',
    secretRef: { name: 'git-creds' },
    allowedGitBranches: [{ branches: ['**'] }],
  },
  GitBranch: { gitProviderRef: { name: 'home' }, branch: 'main', allowedGitTargets: [{}] },
  GitTarget: { gitBranchRef: { name: 'main' }, path: 'live' },
  WatchRule: { gitTargetRef: { name: 'live' }, rules: [{ apiGroups: [''], resources: ['configmaps'] }] },
  ClusterWatchRule: {
    gitTargetRef: { name: 'live', namespace: 'shop' },
    rules: [{ apiGroups: [''], resources: ['namespaces'] }],
  },
};
export const KEYS = {
  KubeProvider: 'default',
  GitProvider: 'shop/home',
  GitBranch: 'shop/main',
  GitTarget: 'shop/live',
  WatchRule: 'shop/basics',
  ClusterWatchRule: 'wide',
} as const satisfies Readonly<Record<Reconciled, string>>;

export class World implements AsyncDisposable {
  readonly clock: FakeClock = fakeClock();
  readonly logger: FakeLogger = fakeLogger();
  readonly cluster = new MemoryCluster(this.clock);
  readonly runtime = new FakeRuntime(() => this.clock.now());
  readonly repositories = new FakeRepositories();
  /** Problems `validateTarget` finds. */
  problems: (settings: TargetSettings) => readonly string[] = () => [];
  options: Partial<DecidingOptions> = {};
  #deciding: Deciding | undefined;

  constructor() {
    this.cluster.namespace('shop', { tier: 'tenant' });
    this.cluster.secret('shop', 'git-creds', { username: 'bot', password: `${CANARY}-password` });
    for (const kind of Object.keys(quickStart) as Reconciled[]) this.declare(kind, KEYS[kind], quickStart[kind]);
  }

  /** Creates or replaces one of our objects; `spec` may be what no API server would admit today. */
  declare(kind: Reconciled, key: string, spec: object, metadata: object = {}): void {
    const [name, namespace] = key.split('/').reverse();
    this.cluster.put({
      apiVersion: 'configbutler.ai/v1alpha3',
      kind,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...metadata },
      spec,
    } as unknown as KubeObject);
  }

  /** Changes fields of the quick-start object of a kind; `undefined` removes one. */
  amend(kind: Reconciled, spec: object, key: string = KEYS[kind]): void {
    this.cluster.edit(kind, key, (object) => ({
      spec: JSON.parse(JSON.stringify({ ...(object['spec'] as object), ...spec })),
    }));
  }

  annotate(kind: Reconciled, token: string): void {
    this.cluster.edit(kind, KEYS[kind], ({ metadata }) => ({
      metadata: { ...metadata, annotations: { 'reconcile.configbutler.ai/requestedAt': token } },
    }));
  }

  /** Leaves only the objects of these kinds. */
  only(...kinds: readonly Reconciled[]): void {
    for (const kind of Object.keys(KEYS) as Reconciled[])
      if (!kinds.includes(kind)) this.cluster.remove(kind, KEYS[kind]);
  }

  /** Starts the reconcilers as after a complete read, and lets them settle. */
  async start(): Promise<void> {
    this.#deciding = decideOn({
      client: new KubeClient(this.cluster.connection),
      objects: this.cluster,
      localCredentials: {
        server: 'https://control.example.test',
        material: () => Promise.resolve({ headers: {}, tls: {} }),
      },
      runtime: this.runtime,
      repositories: this.repositories,
      clock: this.clock,
      logger: this.logger,
      operatorNamespace: 'reverser-system',
      instance: 'reverser-0',
      allowGitHttp: false,
      kubeconfigPolicy: { allowExec: false, allowInsecureTls: false, allowProxy: false },
      sourceLimits: { qps: 20, burst: 30 },
      generatedFilters: [
        { id: 'kube-root-ca', on: true },
        { id: 'helm-releases', on: false },
      ],
      encryptionProviders: [],
      dialects: ['kubernetes'],
      isSensitive: (group, resource) => group === '' && resource === 'secrets',
      validateTarget: (settings) => this.problems(settings),
      redact: (text) => text,
      ...this.options,
    });
    this.#deciding.start();
    await this.settle();
  }

  /** Long enough for a second status write of every object, shorter than any retry. */
  async settle(): Promise<void> {
    for (let round = 0; round < 6; round += 1) await this.clock.advance(1_001);
  }

  status(kind: Reconciled, key: string = KEYS[kind]): Readonly<Record<string, unknown>> {
    return (this.cluster.get(kind, key)?.['status'] ?? {}) as Readonly<Record<string, unknown>>;
  }

  conditions(kind: Reconciled, key: string = KEYS[kind]): readonly Condition[] {
    return (this.status(kind, key)['conditions'] ?? []) as readonly Condition[];
  }

  condition(kind: Reconciled, type: string, key: string = KEYS[kind]): Condition | undefined {
    return this.conditions(kind, key).find((condition) => condition.type === type);
  }

  /** `status reason` of one condition. */
  verdict(kind: Reconciled, type: string, key: string = KEYS[kind]): string {
    const found = this.condition(kind, type, key);
    return found === undefined ? 'absent' : `${found.status} ${found.reason}`;
  }

  /** `Kind key` of each status write since the last call. */
  takeWrites(): readonly string[] {
    return this.cluster.written.splice(0).map(({ what, about }) => `${what} ${about}`);
  }

  takeLog(): readonly string[] {
    return this.runtime.log.splice(0);
  }

  target(key: string = KEYS.GitTarget) {
    return found(this.runtime.targets.get(key), `target ${key}`);
  }
  branch(key: string = KEYS.GitBranch) {
    return found(this.runtime.branches.get(key), `branch ${key}`);
  }
  source(name: string = KEYS.KubeProvider) {
    return found(this.runtime.clusters.get(name), `cluster ${name}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#deciding?.stop();
    await this.#deciding?.disconnect();
  }
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not open`);
  return value;
}

/** A world with the quick start declared, before anybody looked at it. */
export const openWorld = (): World => new World();
