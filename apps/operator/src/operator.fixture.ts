import { cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDevcluster, type Devcluster, type LooseObject } from '@gitops-reverser/devcluster';
import {
  freePort,
  poll,
  startGitHost,
  tempDir,
  type GitHost,
  type GitRepository,
  type TempDir,
} from '@gitops-reverser/e2e-harness';
import { createRedactor } from '@gitops-reverser/kernel-api';
import { kindNames, toCrd } from '@gitops-reverser/crd-types';
import { fakeLogger, type FakeLogger } from '@gitops-reverser/kernel-testing';
import { parseConfiguration } from './config/configuration.js';
import { run, type RunOptions } from './run.js';
import { systemClock } from './system-clock.js';

export const bot = { user: 'reverser-bot', password: 'canary-password', may: 'write' } as const;
export const STRANGER = '@acme/reverser-plugin-note-stripper';
const api = 'configbutler.ai/v1alpha3';

type Loose = Readonly<Record<string, unknown>>;
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Everything of the product in this process: an embedded API server, a real Git host, and `run` from source. */
export class Stage implements AsyncDisposable {
  readonly dir: string;
  readonly cluster: Devcluster;
  readonly host: GitHost;
  readonly logger: FakeLogger = fakeLogger();
  readonly healthPort: number;
  readonly #temp: TempDir;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(temp: TempDir, cluster: Devcluster, host: GitHost, healthPort: number) {
    this.#temp = temp;
    this.dir = temp.path;
    this.cluster = cluster;
    this.host = host;
    this.healthPort = healthPort;
  }

  /** Installs the stranger's package where a configuration would find it. */
  async installPlugin(): Promise<void> {
    const modules = join(this.dir, 'node_modules');
    await mkdir(join(modules, '@gitops-reverser'), { recursive: true });
    await mkdir(join(modules, '@acme'), { recursive: true });
    const kernelApi = await realpath(join(import.meta.dirname, '../../../kernel/api'));
    await symlink(kernelApi, join(modules, '@gitops-reverser/kernel-api'), 'dir');
    await cp(join(import.meta.dirname, '../fixtures/plugins/note-stripper'), join(modules, STRANGER), {
      recursive: true,
    });
  }

  /** Starts the operator; what it ends with is what `ended` gives. */
  start(file: Loose = {}, limits: RunOptions['limits'] = {}): void {
    const kubeconfig = join(this.dir, 'kubeconfig');
    const parsed = parseConfiguration({
      flags: new Map<string, string | true>([
        ['kubeconfig', kubeconfig],
        ['health-probe-bind-address', `127.0.0.1:${this.healthPort}`],
        ['metrics-bind-address', '0'],
        ['insecure-allow-git-http', 'true'],
        ['shutdown-grace', '10s'],
      ]),
      environment: { POD_NAMESPACE: 'reverser-system' },
      file: { version: 1, ...file },
    });
    if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
    this.#running = (async () => {
      await writeFile(kubeconfig, this.cluster.kubeconfig('operator'), { mode: 0o600 });
      await run({
        configuration: parsed.configuration,
        configFolder: this.dir,
        clock: systemClock,
        logger: this.logger,
        redactor: createRedactor(),
        signal: this.#stop.signal,
        limits: {
          graceMs: 100,
          planQuietMs: 100,
          planLatestMs: 500,
          pushCooldownMs: 100,
          retryMs: 500,
          retryMaxMs: 2_000,
          streamRetryMs: 100,
          streamRetryMaxMs: 1_000,
          ...limits,
        },
      });
    })();
    // Whoever waits for the end hears of it.
    this.#running.catch(() => undefined);
  }

  async readyz(): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${this.healthPort}/readyz`);
    return `${answer.status} ${(await answer.text()).trim()}`;
  }

  async untilReady(): Promise<void> {
    await poll(async () => (await this.readyz()) === '200 ok', {
      deadlineMs: 20_000,
      what: 'the operator to be ready',
    });
  }

  /** Asks it to stop, and waits for its end. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Resolves, or rejects, with the operator. */
  get ended(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  async team(name: string, options: Parameters<GitHost['createRepository']>[1] = {}): Promise<Team> {
    const repository = await this.host.createRepository(name, { files: { 'README.md': 'Ours.\n' }, ...options });
    this.cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return new Team(this, name, repository);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch(() => undefined);
    await this.host.stop();
    await this.cluster.stop();
    await this.#temp[Symbol.asyncDispose]();
  }
}

/** A namespace, its repository, and what it declares. */
export class Team {
  readonly stage: Stage;
  readonly name: string;
  readonly repository: GitRepository;

  constructor(stage: Stage, name: string, repository: GitRepository) {
    this.stage = stage;
    this.name = name;
    this.repository = repository;
  }

  apply(kind: string, name: string, rest: Loose, apiVersion: string = api, metadata: Loose = {}): void {
    const object = { apiVersion, kind, metadata: { name, namespace: this.name, ...metadata }, ...rest };
    this.stage.cluster.apply(object as unknown as LooseObject, { manager: 'kubectl' });
  }

  configMap(name: string, data: Readonly<Record<string, string>>, annotations: Loose = {}): void {
    this.apply('ConfigMap', name, { data }, 'v1', { annotations });
  }

  credentials(password: string): void {
    this.apply('Secret', 'git-creds', { stringData: { username: bot.user, password } }, 'v1');
  }

  /** The quick start of a team; what is given replaces a whole spec. */
  declare(
    change: {
      readonly provider?: Loose;
      readonly branch?: Loose;
      readonly target?: Loose;
      readonly rules?: readonly Loose[];
    } = {},
  ): void {
    this.apply('GitProvider', 'home', {
      spec: { url: this.stage.host.urlOf(this.name), allowedGitBranches: [{ branches: ['**'] }], ...change.provider },
    });
    this.apply('GitBranch', 'main', {
      spec: { gitProviderRef: { name: 'home' }, branch: 'main', allowedGitTargets: [{}], ...change.branch },
    });
    this.apply('GitTarget', 'live', {
      spec: {
        gitBranchRef: { name: 'main' },
        path: 'live',
        commit: { window: { idleTimeout: '100ms', maxDuration: '1s' } },
        ...change.target,
      },
    });
    this.apply('WatchRule', 'basics', {
      spec: {
        gitTargetRef: { name: 'live' },
        rules: change.rules ?? [{ apiGroups: [''], resources: ['configmaps'] }],
      },
    });
  }

  conditions(kind: string, name: string): readonly Condition[] {
    const object = this.stage.cluster.get(api, kind, name, this.name) as unknown as {
      readonly status?: { readonly conditions?: readonly Condition[] };
    };
    return object.status?.conditions ?? [];
  }

  /** Waits until a condition reads `status reason`. */
  async reads(object: string, type: string, verdict: string): Promise<Condition> {
    const [kind = '', name = ''] = object.split('/');
    const wanted = (): Condition | undefined =>
      this.conditions(kind, name).find((each) => each.type === type && `${each.status} ${each.reason}` === verdict);
    return await poll(wanted, { deadlineMs: 20_000, what: `${this.name}: ${object} ${type} ${verdict}` }).catch(
      (error: unknown) => {
        const found = this.conditions(kind, name).map(
          (each) => `${each.type} ${each.status} ${each.reason}: ${each.message}`,
        );
        throw new Error(`${(error as Error).message}\n${found.join('\n')}`, { cause: error });
      },
    );
  }

  file(path: string): Promise<string | undefined> {
    return this.repository.showFile('main', `live/${this.name}/${path}`);
  }

  /** Waits until a file of the folder holds a text; `undefined`: until it is gone. */
  async lands(path: string, text: string | undefined): Promise<void> {
    await poll(
      async () => {
        const found = await this.file(path);
        return text === undefined ? found === undefined : found?.includes(text);
      },
      { deadlineMs: 20_000, intervalMs: 50, what: `${this.name}: ${path} to hold ${text ?? 'nothing: to be gone'}` },
    );
  }

  /** Asks for one look, without waiting for the next that is due. */
  ask(kind: string, name: string): void {
    const object = this.stage.cluster.get(api, kind, name, this.name);
    const annotations = { 'reconcile.configbutler.ai/requestedAt': String(Date.now()) };
    this.apply(kind, name, { spec: object?.['spec'] }, api, { annotations });
  }
}

/** A stage with every CRD, or those a test wants, and one KubeProvider for all teams. */
export async function openStage(crds: readonly unknown[] = kindNames.map(toCrd)): Promise<Stage> {
  const temp = await tempDir('operator');
  const cluster = await startDevcluster({ users: [{ name: 'operator', groups: ['system:masters'] }] });
  const host = await startGitHost({ dir: join(temp.path, 'git') });
  if (crds.length > 0) cluster.apply(crds as readonly LooseObject[]);
  return new Stage(temp, cluster, host, await freePort());
}

export function declareCluster({ cluster }: Stage): void {
  const spec = { connection: { inCluster: {} }, allowedGitTargets: [{ namespaces: { selector: {} } }] };
  cluster.apply({ apiVersion: api, kind: 'KubeProvider', metadata: { name: 'default' }, spec } as LooseObject);
}
