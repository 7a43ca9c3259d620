import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

import { takeBuildLock } from './build-lock.js';
import { runCommand } from './processes.js';

export type ServerName = 'etcd' | 'kube-apiserver' | 'kubectl' | 'kube-controller-manager';

export type ServerPaths = Readonly<Partial<Record<ServerName, string>>>;

export type ServerBinaries =
  | {
      readonly status: 'available';
      readonly from: 'KUBEBUILDER_ASSETS' | 'cache' | 'built';
      readonly paths: ServerPaths;
    }
  | { readonly status: 'unavailable'; readonly reason: string };

export interface ServerBinariesOptions {
  readonly needs?: readonly ServerName[];
  /** Folder with one Go module a server, `e2e/servers`. */
  readonly modulesDir?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether what is missing is built, which takes minutes the first time. */
  readonly build?: boolean;
  readonly onProgress?: (line: string) => void;
}

interface Recipe {
  readonly module: string;
  readonly package: string;
  readonly ldflags: string;
}

// Without the version flags `kubectl version` fails and every comparison of versions goes wrong.
const component = 'k8s.io/component-base/version';
const kubeFlags = `-s -w -X ${component}.gitVersion=v1.36.3 -X ${component}.gitMajor=1 -X ${component}.gitMinor=36`;

const recipes: Readonly<Record<ServerName, Recipe>> = {
  etcd: { module: 'etcd', package: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w' },
  'kube-apiserver': { module: 'kube', package: 'k8s.io/kubernetes/cmd/kube-apiserver', ldflags: kubeFlags },
  kubectl: { module: 'kube', package: 'k8s.io/kubernetes/cmd/kubectl', ldflags: kubeFlags },
  'kube-controller-manager': {
    module: 'kube',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    ldflags: kubeFlags,
  },
};

const defaultNeeds: readonly ServerName[] = ['etcd', 'kube-apiserver', 'kubectl'];
const defaultModulesDir = join(import.meta.dirname, '..', '..', 'servers');

/**
 * Finds the servers in `KUBEBUILDER_ASSETS` or in the user's cache folder, or builds them there once from their Go modules.
 *
 * @throws Error when a build fails, or when `KUBEBUILDER_ASSETS` is set but lacks a binary
 */
export async function resolveServerBinaries(options: ServerBinariesOptions = {}): Promise<ServerBinaries> {
  const { needs = defaultNeeds, env = process.env, modulesDir = defaultModulesDir } = options;
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined && assets !== '')
    return { status: 'available', from: 'KUBEBUILDER_ASSETS', paths: await fromAssets(assets, needs) };

  const go = await goVersion(env);
  if (go === undefined)
    return {
      status: 'unavailable',
      reason:
        'Go is not on the PATH and KUBEBUILDER_ASSETS is not set: install Go 1.26 or later, or point KUBEBUILDER_ASSETS at a folder with etcd, kube-apiserver and kubectl',
    };

  const cache = join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'gitops-reverser', 'servers');
  const paths: Partial<Record<ServerName, string>> = {};
  const missing: { name: ServerName; file: string }[] = [];
  for (const name of needs) {
    const file = join(cache, await cacheKey(recipes[name], modulesDir, go), name);
    paths[name] = file;
    if (!(await isExecutable(file))) missing.push({ name, file });
  }
  if (missing.length === 0) return { status: 'available', from: 'cache', paths };
  const names = missing.map(({ name }) => name).join(', ');
  if (options.build === false)
    return {
      status: 'unavailable',
      reason: `${names} not built yet: \`npm run e2e\` builds them once, or set KUBEBUILDER_ASSETS`,
    };

  const report = options.onProgress ?? ((): void => undefined);
  for (const { name, file } of missing) await build(name, file, modulesDir, env, report);
  return { status: 'available', from: 'built', paths };
}

async function fromAssets(dir: string, needs: readonly ServerName[]): Promise<ServerPaths> {
  const paths: Partial<Record<ServerName, string>> = {};
  for (const name of needs) {
    const file = join(dir, name);
    if (!(await isExecutable(file)))
      throw new Error(
        `KUBEBUILDER_ASSETS names ${dir}, which has no executable ${name}; put it there, or unset the variable to build the servers from source`,
      );
    paths[name] = file;
  }
  return paths;
}

/** Builds of other sources, flags or Go versions never meet in one folder. */
async function cacheKey(recipe: Recipe, modulesDir: string, go: string): Promise<string> {
  const hash = createHash('sha256').update(`${go}\n${recipe.ldflags}\n`);
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(modulesDir, recipe.module, file)));
  return `${recipe.module}-${hash.digest('hex').slice(0, 16)}`;
}

async function build(
  name: ServerName,
  file: string,
  modulesDir: string,
  env: Readonly<Record<string, string | undefined>>,
  report: (line: string) => void,
): Promise<void> {
  const dir = join(file, '..');
  await mkdir(dir, { recursive: true });
  await using lock = await takeBuildLock(`${file}.lock`, (pid) =>
    report(`${name}: waiting for process ${pid}, which builds it`),
  );
  if (await isExecutable(file)) return report(`${name}: ${lock.hasWaited ? 'built by another run' : 'there already'}`);
  const recipe = recipes[name];
  const scratch = await mkdtemp(join(dir, 'building-'));
  const began = Date.now();
  const elapsed = (): string => `${Math.round((Date.now() - began) / 1000)} s`;
  report(`${name}: building ${recipe.package} from source (once; several minutes on a cold cache)`);
  const ticker = setInterval(() => report(`${name}: still building after ${elapsed()}`), 30_000);
  try {
    const args = ['build', '-trimpath', '-ldflags', recipe.ldflags, '-o', join(scratch, name), recipe.package];
    const goEnv = Object.fromEntries(
      Object.entries({ ...env, GOFLAGS: '-mod=readonly', GOWORK: 'off' }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    );
    const { exit, stderr } = await runCommand('go', args, {
      cwd: join(modulesDir, recipe.module),
      env: goEnv,
      deadlineMs: 60 * 60_000,
    });
    if (exit.code !== 0)
      throw new Error(
        `go build of ${name} failed (${exit.code ?? exit.signal}):\n${stderr.split('\n').slice(-20).join('\n')}`,
      );
    await rename(join(scratch, name), file);
    report(`${name}: built in ${elapsed()}`);
  } finally {
    clearInterval(ticker);
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What `go env GOVERSION` says for the modules; `undefined` when there is no Go. */
async function goVersion(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  for (const dir of (env['PATH'] ?? '').split(delimiter)) {
    const go = join(dir, 'go');
    if (dir === '' || !(await isExecutable(go))) continue;
    const { exit, stdout } = await runCommand(go, ['env', 'GOVERSION', 'GOOS', 'GOARCH']);
    if (exit.code === 0) return stdout.toString().trim();
  }
  return undefined;
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
