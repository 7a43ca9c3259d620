import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, JsonObject, KubeObject } from '@gitops-reverser/kernel-api';
import { toCrd, trio, type Condition } from '@gitops-reverser/crd-types';
import { fakeLogger } from '@gitops-reverser/kernel-testing';
import { KubeClient, openKubeconfig, openKubeConnection, type CollectionPath } from '@gitops-reverser/toolkit-kube';
import { RECONCILED, pathOf, type Reconciled } from '../objects.js';
import { startReconcilers, type RunningReconcilers } from '../reconcilers.js';
import { FakeRuntime } from './fake-runtime.fixture.js';
import { FakeRepositories, quickStart } from './world.fixture.js';

/** An API server the reconcilers are held against. */
export interface ConformanceServer extends AsyncDisposable {
  /** Of an administrator. */
  readonly kubeconfig: string;
  /** Nobody else uses it: definitions may be loosened for a while. */
  readonly isOurs: boolean;
  /** Cuts every connection; absent: cannot be. */
  restart?(): Promise<void>;
}

const realClock: Clock = {
  now: () => new Date(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};
const never = new AbortController().signal;
const DEFINITIONS: CollectionPath = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};
const core = (resource: string, namespace?: string): CollectionPath => ({
  group: '',
  version: 'v1',
  resource,
  ...(namespace === undefined ? {} : { namespace }),
});

async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 40_000;
  let seen: unknown;
  while (Date.now() < end) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    } catch (thrown) {
      seen = thrown;
    }
    await delay(50);
  }
  throw new Error(`waited for ${what} in vain`, { cause: seen });
}

/** What the embedded server and a real one must let the reconcilers do: same calls, same end. */
export function describeConformance(name: string, open: () => Promise<ConformanceServer>): void {
  describe(`conformance of the reconcilers: ${name}`, () => {
    let server: ConformanceServer;
    let client: KubeClient;
    let close: () => Promise<void>;
    let running: RunningReconcilers;
    const runtime = new FakeRuntime(() => new Date());
    const repositories = new FakeRepositories();
    const logger = fakeLogger();
    const suffix = Date.now().toString(36);
    let teams = 0;

    beforeAll(async () => {
      server = await open();
      const credentials = openKubeconfig(
        server.kubeconfig,
        'the kubeconfig of a test',
        { allowInsecureTls: true },
        realClock,
      );
      const connection = openKubeConnection({ credentials, clock: realClock });
      client = new KubeClient(connection);
      for (const kind of RECONCILED) await define(toCrd(kind) as unknown as KubeObject);
      running = startReconcilers({
        connection,
        localCredentials: credentials,
        runtime,
        repositories,
        clock: realClock,
        logger,
        operatorNamespace: 'default',
        instance: 'conformance',
        allowGitHttp: false,
        kubeconfigPolicy: { allowExec: false, allowInsecureTls: false, allowProxy: false },
        sourceLimits: { qps: 20, burst: 30 },
        generatedFilters: [],
        encryptionProviders: [],
        dialects: ['kubernetes'],
        redact: (text) => text,
        isSensitive: () => false,
        validateTarget: () => [],
      });
      close = async () => {
        await running.stop();
        await running.disconnect();
        await connection.close();
        await server[Symbol.asyncDispose]();
      };
      await eventually('every cache to be complete', async () => running.missing() === undefined);
    }, 120_000);
    afterAll(async () => {
      await close();
    });

    async function define(definition: KubeObject): Promise<void> {
      const path = { ...DEFINITIONS, name: definition.metadata.name };
      await client.patch(
        path,
        { type: 'apply', body: definition, force: true },
        { fieldManager: 'conformance' },
        never,
      );
      await eventually(`${definition.metadata.name} to be served`, async () => {
        const { spec } = definition as unknown as { readonly spec: { readonly names: { readonly plural: string } } };
        await client.list({ group: 'configbutler.ai', version: 'v1alpha3', resource: spec.names.plural }, {}, never);
        return true;
      });
    }

    /** A namespace with the quick start, by names nobody else has. */
    async function team(change: Partial<Record<Reconciled, object>> = {}, labels: Record<string, string> = {}) {
      teams += 1;
      const namespace = `conformance-${suffix}-${teams}`;
      const provider = `${namespace}-cluster`;
      await client.create(core('namespaces'), { metadata: { name: namespace, labels } } as JsonObject, {}, never);
      await secret(namespace, 'one');
      const specs: Record<Reconciled, object> = {
        ...quickStart,
        KubeProvider: { connection: { inCluster: {} }, allowedGitTargets: [{ namespaces: { names: [namespace] } }] },
        GitProvider: { ...quickStart.GitProvider, url: `https://git.example.test/${namespace}.git` },
        GitTarget: { ...quickStart.GitTarget, kubeProviderRef: { name: provider } },
        ClusterWatchRule: { ...quickStart.ClusterWatchRule, gitTargetRef: { name: 'live', namespace } },
        ...change,
      };
      const names: Record<Reconciled, string> = {
        KubeProvider: provider,
        GitProvider: 'home',
        GitBranch: 'main',
        GitTarget: 'live',
        WatchRule: 'basics',
        ClusterWatchRule: `${namespace}-wide`,
      };
      const scopeOf = (kind: Reconciled) =>
        kind === 'KubeProvider' || kind === 'ClusterWatchRule' ? {} : { namespace };
      const at = (kind: Reconciled) => ({ ...pathOf(kind), ...scopeOf(kind), name: names[kind] });
      const create = (kind: Reconciled, spec: object = specs[kind]): Promise<KubeObject> =>
        client.create(
          { ...pathOf(kind), ...scopeOf(kind) },
          {
            apiVersion: 'configbutler.ai/v1alpha3',
            kind,
            metadata: { name: names[kind], ...scopeOf(kind) },
            spec,
          } as unknown as JsonObject,
          {},
          never,
        );
      const get = (kind: Reconciled): Promise<KubeObject> => client.get(at(kind), never);
      const condition = async (kind: Reconciled, type: string): Promise<Condition | undefined> => {
        const status = (await get(kind))['status'] as { readonly conditions?: readonly Condition[] } | undefined;
        return status?.conditions?.find((each) => each.type === type);
      };
      return {
        namespace,
        create,
        get,
        condition,
        all: async (): Promise<void> => {
          for (const kind of RECONCILED) await create(kind);
        },
        patch: (kind: Reconciled, body: object): Promise<KubeObject> =>
          client.patch(at(kind), { type: 'merge', body: body as JsonObject }, {}, never),
        remove: (kind: Reconciled): Promise<JsonObject> => client.delete(at(kind), {}, never),
        /** Waits until a condition reads `status reason`. */
        reads: (kind: Reconciled, type: string, verdict: string): Promise<Condition> =>
          eventually(`${kind} ${names[kind]}: ${type} ${verdict}`, async () => {
            const found = await condition(kind, type);
            return found !== undefined && `${found.status} ${found.reason}` === verdict ? found : undefined;
          }),
        target: () => runtime.targets.get(`${namespace}/live`),
      };
    }

    async function secret(namespace: string, password: string): Promise<void> {
      const body = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'git-creds', namespace },
        stringData: { password },
      };
      const path = { ...core('secrets', namespace), name: 'git-creds' };
      await client.patch(path, { type: 'apply', body, force: true }, { fieldManager: 'conformance' }, never);
    }

    it('the quick start becomes ready, condition by condition, for the generation it was judged at', async () => {
      const { all, reads, get } = await team();
      await all();

      for (const kind of RECONCILED) {
        await reads(kind, 'Ready', 'True Succeeded');
        const object = await get(kind);
        const { conditions, observedGeneration } = object['status'] as unknown as {
          readonly conditions: readonly Condition[];
          readonly observedGeneration: number;
        };
        expect(observedGeneration).toBe(object.metadata['generation']);
        expect(conditions.slice(0, 3).map(({ type, status }) => [type, status])).toEqual(
          trio.map((type) => [type, type === 'Ready' ? 'True' : 'False']),
        );
        expect(new Set(conditions.map((each) => each.observedGeneration))).toEqual(new Set([1]));
      }
    }, 60_000);

    it('20.8: once settled nothing is written any more', async () => {
      const { all, reads, get } = await team();
      await all();
      for (const kind of RECONCILED) await reads(kind, 'Ready', 'True Succeeded');
      await delay(1_500);
      const versions = () => Promise.all(RECONCILED.map(async (kind) => (await get(kind)).metadata.resourceVersion));
      const before = await versions();

      await delay(3_000);

      expect(await versions()).toEqual(before);
    }, 60_000);

    it('a change of readiness is one event, about the object it concerns', async () => {
      const { namespace, all, reads, patch } = await team();
      await all();
      await reads('GitBranch', 'Ready', 'True Succeeded');

      await patch('GitProvider', { spec: { allowedGitBranches: [] } });
      await reads('GitBranch', 'Stalled', 'True NotAllowed');

      const events = await eventually('the event', async () => {
        const { items } = await client.list(core('events', namespace), {}, never);
        const found = items.filter(
          (event) =>
            (event['involvedObject'] as JsonObject)['kind'] === 'GitBranch' && event['reason'] === 'NotAllowed',
        );
        return found.length > 0 ? found : undefined;
      });
      expect(events).toHaveLength(1);
      expect(events[0]).toMatchObject({ type: 'Warning', source: { component: 'gitops-reverser' } });
    }, 60_000);

    it('AZ-4: a grant that is revoked, a label that is taken away, and both given back', async () => {
      const selector = { matchLabels: { tier: 'tenant' } };
      const { namespace, all, reads, patch, target } = await team({}, { tier: 'tenant' });
      await all();
      await patch('KubeProvider', { spec: { allowedGitTargets: [{ namespaces: { selector } }] } });
      await reads('GitTarget', 'Ready', 'True Succeeded');

      const label = (tier: string | null): Promise<KubeObject> =>
        client.patch(
          { ...core('namespaces'), name: namespace },
          { type: 'merge', body: { metadata: { labels: { tier } } } },
          {},
          never,
        );
      await label(null);
      await reads('GitTarget', 'TargetAllowed', 'False NotAllowed');
      const afterLabel = target();
      await label('tenant');
      await reads('GitTarget', 'Ready', 'True Succeeded');
      await patch('GitBranch', { spec: { allowedGitTargets: [] } });
      const denied = await reads('GitTarget', 'TargetAllowed', 'False NotAllowed');

      expect(afterLabel).toBeUndefined();
      expect(target()).toBeUndefined();
      expect(denied.message).toContain(`GitBranch ${namespace}/main admits nobody`);
    }, 60_000);

    it('a request by annotation is answered, a request for a resync when it is done', async () => {
      const { all, reads, patch, get, target } = await team();
      await all();
      await reads('GitTarget', 'Ready', 'True Succeeded');
      const ask = { metadata: { annotations: { 'reconcile.configbutler.ai/requestedAt': 'now' } } };
      const handled = async (kind: Reconciled): Promise<unknown> =>
        ((await get(kind))['status'] as JsonObject)['lastHandledReconcileAt'];

      for (const kind of RECONCILED) await patch(kind, ask);
      for (const kind of ['GitProvider', 'GitBranch', 'WatchRule', 'KubeProvider'] as const)
        await eventually(`${kind} to be handled`, async () => (await handled(kind)) === 'now');
      const early = await handled('GitTarget');
      target()?.say({ resyncedToken: 'now' });

      await eventually('the resync', async () => (await handled('GitTarget')) === 'now');
      expect(early).toBeUndefined();
    }, 60_000);

    it('10, 14: a provider deleted and created again gets a new worker', async () => {
      const { namespace, all, reads, remove, create } = await team();
      await all();
      await reads('GitTarget', 'Ready', 'True Succeeded');
      const first = runtime.branches.get(`${namespace}/main`);

      await remove('GitProvider');
      await reads('GitBranch', 'Validated', 'False GitProviderNotFound');
      const meanwhile = runtime.branches.get(`${namespace}/main`);
      await create('GitProvider');
      const second = await eventually('a new worker', () => {
        const found = runtime.branches.get(`${namespace}/main`);
        return Promise.resolve(found === first ? undefined : found);
      });
      await eventually('the target on it', () => Promise.resolve(runtime.targets.has(`${namespace}/live`)));
      await reads('GitTarget', 'Ready', 'True Succeeded');

      expect(meanwhile).toBe(first);
      expect(runtime.branches.get(`${namespace}/main`)).toBe(second);
    }, 60_000);

    it('a rotated Secret reaches the open worker when it is asked for', async () => {
      const { namespace, all, reads, patch } = await team();
      await all();
      await reads('GitBranch', 'Ready', 'True Succeeded');

      await secret(namespace, 'two');
      await patch('GitProvider', { metadata: { annotations: { 'reconcile.configbutler.ai/requestedAt': 'two' } } });

      const opened = repositories.opened.filter(({ id }) => id === `${namespace}/main`);
      await eventually('the new password', async () => {
        const { credentials } = opened[0]?.access() ?? {};
        return credentials?.kind === 'basic' && credentials.password === 'two';
      });
      expect(opened).toHaveLength(1);
      expect(runtime.log).toContain(`distrust branch ${namespace}/main`);
    }, 60_000);

    it('a status written by somebody else meanwhile is met with a fresh judgement, never with a lost one', async () => {
      const { all, reads, patch, condition } = await team();
      await all();
      await reads('GitBranch', 'Ready', 'True Succeeded');

      for (let round = 0; round < 10; round += 1) {
        await Promise.all([
          patch('GitBranch', { metadata: { labels: { round: String(round) } } }),
          patch('GitProvider', { spec: { allowedGitBranches: round % 2 === 0 ? [] : [{ branches: ['**'] }] } }),
        ]);
      }

      await reads('GitBranch', 'BranchAllowed', 'True Granted');
      await reads('GitTarget', 'Ready', 'True Succeeded');
      expect((await condition('GitBranch', 'Ready'))?.status).toBe('True');
    }, 60_000);

    it('VA-1: objects stored before a rule existed are judged by it, and their status can be written', async () => {
      if (!server.isOurs) return;
      const { all, create, remove, reads } = await team();
      await all();
      await remove('GitTarget');
      await remove('WatchRule');
      const kinds = ['GitTarget', 'WatchRule'] as const;
      for (const kind of kinds) await define(loosened(toCrd(kind) as unknown as KubeObject));
      try {
        await eventually('the looser definitions', async () => {
          await create('GitTarget', { gitBranchRef: { name: 'main' }, path: '../elsewhere' });
          return true;
        });
        await create('WatchRule', {
          gitTargetRef: { name: 'live' },
          sourceNamespace: 'depot',
          rules: [{ resources: ['configmaps'] }],
        });
      } finally {
        for (const kind of kinds) await define(toCrd(kind) as unknown as KubeObject);
      }

      const invalid = await reads('GitTarget', 'Validated', 'False InvalidSpec');
      const retired = await reads('WatchRule', 'Validated', 'False RetiredField');

      expect(invalid.message).toContain('spec.path');
      expect(retired.message).toContain('spec.rules[].sourceNamespace');
    }, 60_000);

    it('goes on after the API server went away for a moment', async () => {
      if (server.restart === undefined) return;
      const { all, reads, patch } = await team();
      await all();
      await reads('GitTarget', 'Ready', 'True Succeeded');

      await server.restart();
      await eventually('an answer', async () => {
        await patch('GitBranch', { spec: { allowedGitTargets: [] } });
        return true;
      });

      await reads('GitTarget', 'TargetAllowed', 'False NotAllowed');
    }, 90_000);

    it('said nothing that nobody needs to look at', () => {
      const loud = logger.lines.filter(({ level }) => level === 'error');

      expect(loud).toEqual([]);
    });
  });
}

/** The same definition without a single rule for the spec, as if it were years older. */
function loosened(definition: KubeObject): KubeObject {
  const copy = JSON.parse(JSON.stringify(definition)) as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: Record<string, object> } } }[] };
  };
  for (const { schema } of copy.spec.versions)
    schema.openAPIV3Schema.properties['spec'] = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return copy as unknown as KubeObject;
}
