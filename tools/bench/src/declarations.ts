import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { poll } from '@gitops-reverser/e2e-harness';
import type { ApiClient } from '@gitops-reverser/e2e-harness';

const root = join(import.meta.dirname, '..', '..', '..');
const group = 'configbutler.ai/v1alpha3';
/** Namespace of the declarations; nothing in it is mirrored. */
export const homeNamespace = 'bench-home';
export const folder = 'live-cluster';

export interface Remote {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/** Installs the CRDs and waits until they are served. */
export async function applyDefinitions(api: ApiClient): Promise<void> {
  const dir = join(root, 'crds', 'manifests');
  const files = (await readdir(dir)).filter((name) => name.endsWith('.yaml'));
  for (const file of files) {
    const plural = file.replace(/\.yaml$/, '');
    await api.apply(
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.configbutler.ai`,
      await readFile(join(dir, file), 'utf8'),
    );
    await poll(() => api.request(`/apis/${group}/${plural}`), { what: `${plural} to be served`, deadlineMs: 30_000 });
  }
}

export async function applyNamespace(api: ApiClient, name: string): Promise<void> {
  await api.apply(
    `/api/v1/namespaces/${name}`,
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
  );
}

/** Everything but the WatchRule: a target that mirrors nothing yet, with window 0. Returns when it is Ready. */
export async function declareTarget(api: ApiClient, remote: Remote): Promise<void> {
  const inHome = `namespaces/${homeNamespace}`;
  await api.apply(
    `/api/v1/${inHome}/secrets/git-creds`,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'git-creds', namespace: homeNamespace },
      stringData: { username: remote.user, password: remote.password },
    }),
  );
  const declare = async (plural: string, kind: string, name: string, spec: unknown): Promise<void> => {
    const isGlobal = plural === 'kubeproviders';
    await api.apply(
      `/apis/${group}/${isGlobal ? '' : `${inHome}/`}${plural}/${name}`,
      JSON.stringify({
        apiVersion: group,
        kind,
        metadata: { name, ...(isGlobal ? {} : { namespace: homeNamespace }) },
        spec,
      }),
    );
  };
  await declare('kubeproviders', 'KubeProvider', 'default', {
    connection: { inCluster: {} },
    allowedGitTargets: [{ namespaces: { names: [homeNamespace] }, sourceNamespaces: ['*'] }],
  });
  await declare('gitproviders', 'GitProvider', 'home', {
    url: remote.url,
    secretRef: { name: 'git-creds' },
    allowedGitBranches: [{ branches: ['main'] }],
  });
  await declare('gitbranches', 'GitBranch', 'main', {
    gitProviderRef: { name: 'home' },
    branch: 'main',
    allowedGitTargets: [{}],
  });
  await declare('gittargets', 'GitTarget', 'live', {
    gitBranchRef: { name: 'main' },
    path: folder,
    commit: { window: { idleTimeout: '0s', maxDuration: '0s' } },
  });
  await waitUntilReady(api, `/apis/${group}/${inHome}/gittargets/live`);
}

/** The one collection of the bench: every ConfigMap of every namespace. */
export async function createWatchRule(api: ApiClient): Promise<void> {
  await api.request(`/apis/${group}/namespaces/${homeNamespace}/watchrules`, {
    body: {
      apiVersion: group,
      kind: 'WatchRule',
      metadata: { name: 'all-config-maps', namespace: homeNamespace },
      spec: {
        gitTargetRef: { name: 'live' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], sourceNamespace: '*' }],
      },
    },
  });
}

interface Declared {
  readonly status?: { readonly conditions?: readonly Condition[] };
}
interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

async function waitUntilReady(api: ApiClient, path: string): Promise<void> {
  let conditions: readonly Condition[] = [];
  await poll(
    async () => {
      conditions = (await api.request<Declared>(path)).status?.conditions ?? [];
      return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    },
    { what: `${path} to be Ready`, deadlineMs: 60_000, intervalMs: 50 },
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}\n${describe(conditions)}`, { cause: error });
  });
}

/** Conditions of the target and its rule, for an error. */
export async function describeConditions(api: ApiClient): Promise<string> {
  const lines: string[] = [];
  for (const path of ['gittargets/live', 'watchrules/all-config-maps']) {
    const found = await api
      .request<Declared>(`/apis/${group}/namespaces/${homeNamespace}/${path}`)
      .catch((): Declared => ({}));
    lines.push(path, describe(found.status?.conditions ?? []));
  }
  return lines.join('\n');
}

const describe = (conditions: readonly Condition[]): string =>
  conditions.map(({ type, status, reason, message }) => `  ${type}=${status} ${reason}: ${message}`).join('\n');
