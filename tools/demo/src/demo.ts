import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { startDevcluster } from '@gitops-reverser/devcluster';
import type { Devcluster, LooseObject } from '@gitops-reverser/devcluster';
import { operatorBundle, startGitHost, startOperator } from '@gitops-reverser/e2e-harness';
import type { GitRepository, OperatorProcess } from '@gitops-reverser/e2e-harness';
import { encodeYamlDocuments, parseDocuments } from '@gitops-reverser/toolkit-yaml';

import { demoBranch, demoNamespace, orchardDefinition, quickStart, residents } from './objects.js';

const root = join(import.meta.dirname, '..', '..', '..');
const repositoryName = 'repo';

export interface DemoOptions {
  /** Kept at the end; absent: a folder that goes with the demo. */
  readonly dir?: string;
  /** Of the API server; 0 takes a free one. */
  readonly port: number;
  /** Told before something that takes long. */
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The main job on embedded defaults: API server and Git host in this process, the operator as a child. */
export interface Demo {
  readonly dir: string;
  /** Whether `dir` stays when the demo goes. */
  readonly isKept: boolean;
  /** Of an administrator, in the mirrored namespace. */
  readonly kubeconfigFile: string;
  readonly cluster: Devcluster;
  readonly repository: GitRepository;
  readonly operator: OperatorProcess;
  /** Where the branch of a kept repository stood before. */
  readonly before: string | undefined;
}

/** Starts everything, tells a story with it, and stops everything, whatever the story ended with. */
export async function withDemo<T>(options: DemoOptions, tell: (demo: Demo) => Promise<T>): Promise<T> {
  const { report, signal } = options;
  await using folder = options.dir === undefined ? await temporaryFolder() : await keptFolder(options.dir);
  const dir = folder.path;
  const bundle = await operatorBundle({
    onBundle: () => report('bundling the operator, because the bundle is missing or older than its sources'),
  });
  signal.throwIfAborted();

  await using cluster = await startCluster(options.port);
  const kubeconfigFile = join(dir, 'kubeconfig');
  await writeFile(kubeconfigFile, cluster.kubeconfig('admin', { namespace: demoNamespace }), { mode: 0o600 });
  await using host = await startGitHost({ dir });
  const bot = { user: 'reverser-bot', password: randomBytes(16).toString('hex') };
  const repository = await host.createRepository(repositoryName, {
    access: { anonymous: 'read', accounts: [{ ...bot, may: 'write' }] },
  });
  const before = await repository.head(demoBranch);
  const declared = quickStart({ url: host.urlOf(repositoryName), ...bot });
  await fill(cluster, declared);
  await writeFile(join(dir, 'quick-start.yaml'), asYaml(declared), { mode: 0o600 });
  signal.throwIfAborted();

  const home = join(dir, 'operator');
  // A kept folder may hold the log of an earlier run.
  await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true });
  const operatorKubeconfig = join(home, 'kubeconfig');
  await writeFile(operatorKubeconfig, cluster.kubeconfig('operator'), { mode: 0o600 });
  await using operator = await startOperator({
    bundle,
    dir: home,
    kubeconfigFile: operatorKubeconfig,
    flags: ['--shutdown-grace=5s'],
  });
  signal.throwIfAborted();
  return await tell({ dir, isKept: options.dir !== undefined, kubeconfigFile, cluster, repository, operator, before });
}

async function startCluster(port: number): Promise<Devcluster> {
  const users = [
    { name: 'operator', groups: ['system:masters'] },
    { name: 'alice', groups: ['developers'] },
  ];
  return await startDevcluster({ port, users }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
    const found = error.code === 'EADDRINUSE' ? 'is in use' : 'is not allowed';
    throw new Error(`--port ${port} ${found}; name another, or none for a free one`, { cause: error });
  });
}

async function fill(cluster: Devcluster, declared: readonly LooseObject[]): Promise<void> {
  cluster.apply(await readDefinitions());
  cluster.apply([orchardDefinition, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: demoNamespace } }]);
  cluster.apply([...residents, ...declared], { manager: 'kubectl' });
}

/** The CRDs as users install them. */
async function readDefinitions(): Promise<readonly LooseObject[]> {
  const dir = join(root, 'crds', 'manifests');
  const files = (await readdir(dir)).filter((name) => name.endsWith('.yaml')).sort();
  const definitions: LooseObject[] = [];
  for (const file of files) {
    const read = parseDocuments(await readFile(join(dir, file), 'utf8'));
    if (!read.ok) throw new Error(`${join(dir, file)} is not readable as YAML; run \`npm run generate\``);
    for (const document of read.value) {
      if (document.state === 'read') definitions.push(document.value as unknown as LooseObject);
    }
  }
  return definitions;
}

function asYaml(objects: readonly LooseObject[]): string {
  const encoded = encodeYamlDocuments(JSON.parse(JSON.stringify(objects)));
  if (!encoded.ok) throw new Error(encoded.error.message);
  return encoded.value;
}

interface Folder extends AsyncDisposable {
  readonly path: string;
}

async function keptFolder(given: string): Promise<Folder> {
  const path = resolve(given);
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`--dir ${given} cannot be used as a folder (${error.code}); name another`, { cause: error });
  });
  return { path, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'gitops-reverser-demo-'));
  // Whoever asks twice to stop does not wait for disposal.
  const atExit = (): void => rmSync(path, { recursive: true, force: true });
  process.once('exit', atExit);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
      process.off('exit', atExit);
    },
  };
}
