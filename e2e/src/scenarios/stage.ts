import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { findCluster, poll, runCommand, startGitHost, startOperator, tempDir } from '@gitops-reverser/e2e-harness';
import type {
  Cluster,
  ClusterSource,
  GitHost,
  GitRepository,
  Kubectl,
  LoggedCommit,
  OperatorOptions,
  OperatorProcess,
  TempDir,
} from '@gitops-reverser/e2e-harness';

const root = join(import.meta.dirname, '..', '..', '..');

/** Where stories are told; found once, never built here. */
export const clusterSource: ClusterSource = await findCluster({ build: false });

/** A `describe` that needs a real cluster: without one it is skipped with the reason, or fails with `CI=true`. */
export function story(title: string, tell: () => void): void {
  if (clusterSource.status === 'available') return describe(title, tell);
  const { reason } = clusterSource;
  if (process.env['CI'] === 'true') {
    describe(title, () => {
      it('has a real cluster', () => {
        throw new Error(reason);
      });
    });
  } else describe.skip(`${title} (${reason})`, tell);
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

/** What a condition must look like; what is left out may be anything. */
export type ExpectedCondition = Partial<Pick<Condition, 'status' | 'reason'>> & { readonly message?: RegExp };

/** A cluster with our CRDs, a Git host, and room for one operator. */
export class Stage implements AsyncDisposable {
  readonly dir: string;
  readonly cluster: Cluster;
  readonly host: GitHost;
  readonly kubectl: Kubectl;
  /** Ends the names of cluster-scoped objects and namespaces; empty on a cluster of our own. */
  readonly suffix: string;
  readonly #temp: TempDir;
  #operator: OperatorProcess | undefined;
  readonly #cleanups: string[][] = [];

  constructor(temp: TempDir, cluster: Cluster, host: GitHost) {
    this.#temp = temp;
    this.dir = temp.path;
    this.cluster = cluster;
    this.host = host;
    this.kubectl = cluster.kubectl;
    this.suffix = cluster.plane === undefined ? `-${Date.now().toString(36)}` : '';
  }

  get operator(): OperatorProcess {
    if (this.#operator === undefined) throw new Error('no operator is running on this stage');
    return this.#operator;
  }

  async createNamespace(name: string): Promise<string> {
    const full = `${name}${this.suffix}`;
    await this.kubectl.run(['create', 'namespace', full]);
    this.cleanUpWith('delete', 'namespace', full, '--wait=false');
    return full;
  }

  /** A kubectl command for the end, when the cluster outlives the story. */
  cleanUpWith(...args: string[]): void {
    this.#cleanups.unshift(args);
  }

  /** Starts the operator, or starts it again with the Git cache of its last life. */
  async startOperator(options: Partial<OperatorOptions> = {}): Promise<OperatorProcess> {
    const bundle = process.env['E2E_OPERATOR'] ?? join(root, 'apps', 'operator', 'dist', 'operator.mjs');
    await access(bundle).catch(() => {
      throw new Error(`${bundle} is not there: run the stories with \`npm run e2e\`, which bundles the operator`);
    });
    this.#operator = await startOperator({
      bundle,
      dir: join(this.dir, 'operator'),
      kubeconfigFile: this.cluster.kubeconfigFile,
      ...options,
    });
    return this.#operator;
  }

  /** Everything the operator printed in all its lives. */
  operatorLog(): Promise<string> {
    return readFile(join(this.dir, 'operator', 'operator.log'), 'utf8');
  }

  /** Waits, as `kubectl wait` does, until every named object is Ready. */
  async waitUntilReady(namespace: string, ...objects: readonly string[]): Promise<void> {
    const args = ['wait', '--for=condition=Ready', '--timeout=30s', '-n', namespace, ...objects];
    await this.kubectl.run(args).catch(async (error: unknown) => {
      const conditions = await Promise.all(objects.map((object) => this.describeConditions(namespace, object)));
      throw new Error(
        `${(error as Error).message}\n${conditions.join('\n')}\n--- operator\n${this.#operator?.process.tail() ?? ''}`,
      );
    });
  }

  /** Waits until a condition of an object is as expected, and gives it. */
  async waitForCondition(
    namespace: string,
    object: string,
    type: string,
    expected: ExpectedCondition,
    deadlineMs = 30_000,
  ): Promise<Condition> {
    try {
      return await poll(
        async () => {
          const condition = (await this.conditions(namespace, object)).find((candidate) => candidate.type === type);
          if (condition === undefined) return undefined;
          const isMet =
            (expected.status ?? condition.status) === condition.status &&
            (expected.reason ?? condition.reason) === condition.reason &&
            (expected.message?.test(condition.message) ?? true);
          return isMet ? condition : undefined;
        },
        {
          deadlineMs,
          intervalMs: 200,
          what: `${type} of ${object} to be ${JSON.stringify(expected)} ${expected.message ?? ''}`,
        },
      );
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await this.describeConditions(namespace, object)}`, {
        cause: error,
      });
    }
  }

  async conditions(namespace: string, object: string): Promise<readonly Condition[]> {
    const found = await this.kubectl.get<{ status?: { conditions?: Condition[] } }>('-n', namespace, object);
    return found.status?.conditions ?? [];
  }

  async describeConditions(namespace: string, object: string): Promise<string> {
    const conditions = await this.conditions(namespace, object).catch(() => []);
    return `${object}: ${conditions.map(({ type, status, reason, message }) => `\n  ${type}=${status} ${reason}: ${message}`).join('')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#operator?.kill();
    if (this.cluster.plane === undefined) for (const args of this.#cleanups) await this.kubectl.try(args);
    await this.host.stop();
    await this.cluster[Symbol.asyncDispose]();
    if (process.env['E2E_KEEP'] === undefined) await this.#temp[Symbol.asyncDispose]();
    else process.stderr.write(`kept: ${this.dir}\n`);
  }
}

/** Applies every CRD of the repository and waits until the API server serves them. */
export async function applyCrds(kubectl: Kubectl): Promise<readonly string[]> {
  const dir = join(root, 'crds', 'manifests');
  const files = (await readdir(dir)).filter((name) => name.endsWith('.yaml')).sort();
  const names: string[] = [];
  for (const file of files) {
    const applied = await kubectl.run(['apply', '--server-side', '-f', join(dir, file), '-o', 'name']);
    names.push(...applied.split('\n').filter(Boolean));
  }
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
  return names;
}

export async function openStage(name: string): Promise<Stage> {
  if (clusterSource.status === 'unavailable') throw new Error(clusterSource.reason);
  const temp = await tempDir(name);
  const cluster = await clusterSource.open({ dir: join(temp.path, 'cluster') });
  const host = await startGitHost({ dir: join(temp.path, 'git') });
  return new Stage(temp, cluster, host);
}

/** Reads a branch commit by commit, so that a story notices every commit it did not expect. */
export class CommitReader {
  readonly #repository: GitRepository;
  readonly #branch: string;
  #seen: string | undefined;

  constructor(repository: GitRepository, branch: string) {
    this.#repository = repository;
    this.#branch = branch;
  }

  /** Takes the tip as read, whatever led to it. */
  async skip(): Promise<void> {
    this.#seen = await this.#repository.head(this.#branch);
  }

  /** Commits not read so far, oldest first; marks nothing as read. */
  async unread(): Promise<readonly LoggedCommit[]> {
    const since = this.#seen === undefined ? {} : { since: this.#seen };
    return (await this.#repository.log(this.#branch, since)).toReversed();
  }

  /** Waits until the unread commits satisfy `isDone`, reads and gives them. */
  async readUntil(
    what: string,
    isDone: (commits: readonly LoggedCommit[]) => boolean | Promise<boolean>,
    deadlineMs = 30_000,
  ): Promise<readonly LoggedCommit[]> {
    let last: readonly LoggedCommit[] = [];
    const commits = await poll(
      async () => {
        last = await this.unread();
        if (!(await isDone(last))) return undefined;
        // What was looked at must be what was read: a commit may have come in between.
        const tip = await this.#repository.head(this.#branch);
        return tip === (last.at(-1)?.sha ?? this.#seen) ? last : undefined;
      },
      { deadlineMs, intervalMs: 100, what },
    ).catch((error: unknown) => {
      throw new Error(
        `${(error as Error).message}; unread commits: ${JSON.stringify(
          last.map(({ subject, files }) => ({ subject, files })),
          undefined,
          2,
        )}`,
      );
    });
    this.#seen = commits.at(-1)?.sha ?? this.#seen;
    return commits;
  }

  /** Waits for the next commit. */
  async next(what = 'a commit'): Promise<readonly LoggedCommit[]> {
    return await this.readUntil(what, (commits) => commits.length > 0);
  }
}

/** A row of the admission table of the API kinds. */
export interface AdmissionCase {
  readonly name: string;
  readonly id: string;
  readonly object: { readonly kind: string; readonly metadata: { readonly name: string } };
  readonly stored?: AdmissionCase['object'];
  /** Part of the message; absent: it is accepted. */
  readonly refused?: string;
}

/** Reads the table in a process of its own: stories know the product from outside only. */
export async function readAdmissionCases(): Promise<{ namespace: string; cases: readonly AdmissionCase[] }> {
  const table = join(root, 'crds', 'types', 'src', 'admission', 'admission-cases.ts');
  const print = `import { admissionCases as cases, admissionNamespace as namespace } from ${JSON.stringify(table)}; process.stdout.write(JSON.stringify({ namespace, cases }));`;
  const flags = ['--import', 'tsx', '--conditions=@gitops-reverser/source', '--input-type=module', '--eval', print];
  const { exit, stdout, stderr } = await runCommand(process.execPath, flags, { cwd: root });
  if (exit.code !== 0) throw new Error(`the admission table could not be read from ${table}:\n${stderr}`);
  return JSON.parse(stdout.toString()) as { namespace: string; cases: readonly AdmissionCase[] };
}
