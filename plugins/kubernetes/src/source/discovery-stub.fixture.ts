import { targetId, type Collection, type Surface } from '@gitops-reverser/kernel-api';
import { fakeClock, fakeLogger, whileTicking, type FakeClock, type FakeLogger } from '@gitops-reverser/kernel-testing';
import type { Answer, Asked, Reply } from './api-stub.fixture.js';
import { connectTo, eventually } from './following.fixture.js';
import { resourcePolicy } from './policy.js';
import { createKubernetesSource } from './source.js';

/** `apps/v1` serves `deployments`. The empty group is `v1`. */
export type Served = Readonly<Record<string, readonly string[]>>;

const VERBS = ['get', 'list', 'watch'];
const kindOf = (plural: string): string => `${plural[0]?.toUpperCase()}${plural.slice(1, -1)}`;

/** Aggregated discovery of what is served at the moment; anything else is left to `otherwise`. */
export function discovery(served: () => Served, otherwise: Answer, prefix = ''): Answer {
  return (reply, asked) => {
    if (asked.path === `${prefix}/api`) reply.json(200, aggregated(served(), true));
    else if (asked.path === `${prefix}/apis`) reply.json(200, aggregated(served(), false));
    else otherwise(reply, asked);
  };
}

function aggregated(served: Served, isCore: boolean): object {
  const items = Object.entries(served)
    .filter(([groupVersion]) => groupVersion.includes('/') !== isCore)
    .map(([groupVersion, plurals]) => {
      const [group, version] = isCore ? ['', groupVersion] : groupVersion.split('/');
      const resources = plurals.map((resource) => ({
        resource,
        responseKind: { group, version, kind: kindOf(resource) },
        scope: 'Namespaced',
        singularResource: resource.slice(0, -1),
        verbs: VERBS,
      }));
      return { metadata: { name: group }, versions: [{ version, resources, freshness: 'Current' }] };
    });
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

/** Discovery group by group, as a server without the aggregated form gives it. `isBroken`: that group version answers 503. */
export function classicDiscovery(served: () => Served, isBroken: (groupVersion: string) => boolean): Answer {
  return (reply, { path, accept }) => {
    const [root, ...rest] = path.slice(1).split('/');
    const groupVersion = rest.join('/');
    if (rest.length > 0) return resources(reply, served(), groupVersion, isBroken(groupVersion));
    if (accept.startsWith('application/json;g=apidiscovery')) return reply.refuse(406, 'NotAcceptable');
    if (root === 'api') return reply.json(200, { kind: 'APIVersions', versions: ['v1'] });
    const groups = Object.keys(served())
      .filter((each) => each.includes('/'))
      .map((each) => {
        const versions = [{ groupVersion: each, version: each.split('/')[1] }];
        return { name: each.split('/')[0], versions, preferredVersion: versions[0] };
      });
    return reply.json(200, { kind: 'APIGroupList', apiVersion: 'v1', groups });
  };
}

function resources(reply: Reply, served: Served, groupVersion: string, isBroken: boolean): void {
  const plurals = served[groupVersion];
  if (isBroken) return reply.refuse(503, 'ServiceUnavailable');
  if (plurals === undefined) return reply.refuse(404, 'NotFound');
  const list = plurals.map((name) => ({
    name,
    singularName: name.slice(0, -1),
    namespaced: true,
    kind: kindOf(name),
    verbs: VERBS,
  }));
  reply.json(200, { kind: 'APIResourceList', groupVersion, resources: list });
}

export interface RunningSource extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly source: ReturnType<typeof createKubernetesSource>;
  /** The first surface that is so; time passes meanwhile, slowly where the test measures it. */
  surface(holds: (surface: Surface) => boolean, pace?: 'slow'): Promise<Surface>;
  /** Lets time pass while real sockets keep up. */
  pass(ms: number): Promise<void>;
  eventually(holds: () => boolean, pace?: 'slow'): Promise<void>;
}

const STEP_MS = 500;

export async function runSource(
  server: string,
  options: {
    readonly locality?: 'local' | 'remote';
    readonly token?: string;
    readonly sharesClock?: true;
    readonly clock?: FakeClock;
  } = {},
): Promise<RunningSource> {
  const { locality = 'local', sharesClock, token = 'stub-token', clock = fakeClock() } = options;
  const logger = fakeLogger();
  const connection = connectTo(server, { token, ...(sharesClock === true ? { clock } : {}) });
  const source = createKubernetesSource({
    connection,
    locality,
    policy: resourcePolicy([], []),
    clock,
    logger,
    random: () => 0,
  });
  const stop = new AbortController();
  let latest: Surface | undefined;
  const watching = (async () => {
    for await (const surface of source.surface(stop.signal)) latest = surface;
  })();
  await source.start?.(stop.signal);
  const quick = (): Promise<void> => clock.advance(STEP_MS);
  const slow = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await clock.advance(STEP_MS / 5);
  };
  return {
    clock,
    logger,
    source,
    async surface(holds, pace) {
      await whileTicking(
        eventually(() => latest !== undefined && holds(latest)),
        pace === 'slow' ? slow : quick,
        `a surface where ${holds.toString()}; last: ${JSON.stringify(latest?.reach)}`,
      );
      return latest as Surface;
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        await clock.advance(Math.min(left, STEP_MS));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    eventually: (holds, pace) => whileTicking(eventually(holds), pace === 'slow' ? slow : quick, holds.toString()),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await source[Symbol.asyncDispose]?.();
      await watching;
      await connection.close();
    },
  };
}

/** `configmaps followable`, by group and resource. */
export const verdicts = ({ types }: Surface): readonly string[] =>
  types.map(({ type, verdict }) => `${type.group === '' ? '' : `${type.group}/`}${type.resource} ${verdict}`).sort();

export const watchesOf = (asked: readonly Asked[]): readonly string[] =>
  asked.filter(({ verb }) => verb === 'watch').map(({ path }) => path);

export const widgets: Collection = {
  target: targetId('demo', 'target'),
  type: { group: 'example.test', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true },
};
