import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { operatorBundle, startGitHost, startOperator, tempDir } from '@gitops-reverser/e2e-harness';
import type { ApiClient, GitHost, GitRepository, OperatorProcess } from '@gitops-reverser/e2e-harness';

import type { BenchArguments } from './arguments.js';
import { openDevcluster, openRealCluster } from './cluster.js';
import { configMaps, keyOf, namespaceName } from './config-maps.js';
import type { BenchConfigMap } from './config-maps.js';
import { applyDefinitions, applyNamespace, declareTarget, homeNamespace } from './declarations.js';

export const repositoryName = 'mirror';

/** All that both workloads need, with the objects in the cluster and nothing in the repository. */
export interface BenchStage {
  readonly dir: string;
  /** The API server, in words. */
  readonly what: string;
  readonly api: ApiClient;
  readonly host: GitHost;
  readonly repository: GitRepository;
  readonly operator: OperatorProcess;
  /** What the cluster holds, and Git must hold in the end; edits are entered here. */
  readonly objects: Map<string, BenchConfigMap>;
}

export async function withStage<T>(
  options: BenchArguments,
  report: (line: string) => void,
  tell: (stage: BenchStage) => Promise<T>,
): Promise<T> {
  const bundle = await operatorBundle({ onBundle: () => report('bundling the operator') });
  await using temp = await tempDir('bench');
  const dir = temp.path;
  await using cluster = await (options.isReal ? openRealCluster(dir, report) : openDevcluster(dir));
  const { api } = cluster;
  await using host = await startGitHost({ dir: join(dir, 'git') });
  const bot = { user: 'reverser-bot', password: randomBytes(16).toString('hex') };
  const repository = await host.createRepository(repositoryName, {
    access: { anonymous: 'none', accounts: [{ ...bot, may: 'write' }] },
  });
  await repository.stampRefs();

  report(`loading ${options.objects} ConfigMaps into ${options.namespaces} namespaces of ${cluster.what}`);
  await applyDefinitions(api);
  await applyNamespace(api, homeNamespace);
  for (let i = 0; i < options.namespaces; i++) await applyNamespace(api, namespaceName(i));
  const objects = configMaps(options.objects, options.namespaces);
  await cluster.load(objects);

  const profiles = options.profile === undefined ? undefined : resolve(options.profile);
  if (profiles !== undefined) await mkdir(profiles, { recursive: true });
  await using operator = await startOperator({
    bundle,
    dir: join(dir, 'operator'),
    kubeconfigFile: cluster.kubeconfigFile,
    ...(profiles === undefined ? {} : { nodeFlags: ['--cpu-prof', `--cpu-prof-dir=${profiles}`] }),
  });
  await declareTarget(api, { url: host.urlOf(repositoryName), ...bot });
  return await tell({
    dir,
    what: cluster.what,
    api,
    host,
    repository,
    operator,
    objects: new Map(objects.map((object) => [keyOf(object), object])),
  });
}
