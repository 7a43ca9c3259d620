import {
  echoOf,
  targetId,
  type Clock,
  type Collection,
  type Cursor,
  type JsonObject,
  type SourceEvent,
} from '@gitops-reverser/kernel-api';
import { fakeLogger, Reader } from '@gitops-reverser/kernel-testing';
import {
  KubeClient,
  openKubeconfig,
  openKubeConnection,
  type CollectionPath,
  type KubeConnection,
  type Query,
} from '@gitops-reverser/toolkit-kube';
import { eventually, realClock, told } from './following.fixture.js';
import { resourcePolicy } from './policy.js';
import { createKubernetesSource } from './source.js';

/** An API server the expectations are held against. */
export interface ConformanceServer extends AsyncDisposable {
  /** Of an administrator. */
  readonly kubeconfig: string;
  /** Of somebody who may read nothing; absent where nobody is known. */
  readonly powerless?: string;
  /** How many collections are followed at the same time. */
  readonly collections: number;
  /** Watches share connections. */
  readonly speaksHttp2?: true;
  /** Restarts it on the same objects: every version handed out so far is expired. Absent: cannot be. */
  restart?(): Promise<void>;
}

interface Line {
  readonly type: string;
  readonly object: JsonObject & { readonly metadata?: JsonObject };
}

const definitions: CollectionPath = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};
const maps: CollectionPath = { group: '', version: 'v1', resource: 'configmaps' };
const mapType = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };
const target = targetId('demo', 'target');
const never = new AbortController().signal;
/** Pauses of streams are a tenth of what they are; everything else takes its time. */
const hurried: Clock = { now: () => new Date(), sleep: (ms, signal) => realClock.sleep(ms / 10, signal) };
const parallel = 16;

function connect(kubeconfig: string): KubeConnection {
  const credentials = openKubeconfig(kubeconfig, 'the kubeconfig of a test', { allowInsecureTls: true }, realClock);
  return openKubeConnection({ credentials, clock: realClock, allowH2: true });
}

/** What both the embedded server and a real one must do, told through the client and the source that depend on it. */
export function describeConformance(name: string, open: () => Promise<ConformanceServer>): void {
  describe(`conformance: ${name}`, () => {
    let server: ConformanceServer;
    let connection: KubeConnection;
    let client: KubeClient;
    let spaces = 0;

    beforeAll(async () => {
      server = await open();
      connection = connect(server.kubeconfig);
      client = new KubeClient(connection);
    }, 120_000);
    afterAll(async () => {
      await connection?.close();
      await server?.[Symbol.asyncDispose]();
    }, 60_000);

    /** A namespace of its own for each test. */
    const space = async (): Promise<CollectionPath & { readonly namespace: string }> => {
      spaces += 1;
      const namespace = `conformance-${process.pid}-${spaces}`;
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      await client.create({ group: '', version: 'v1', resource: 'namespaces' }, body, {}, never);
      return { ...maps, namespace };
    };
    const create = (
      path: CollectionPath,
      mapName: string,
      metadata: JsonObject = {},
      data = 'a',
    ): Promise<JsonObject> => {
      const body = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: mapName, ...metadata },
        data: { value: data },
      };
      return client.create(path, body, {}, never);
    };
    const merge = (path: CollectionPath, mapName: string, body: JsonObject): Promise<JsonObject> =>
      client.patch({ ...path, name: mapName }, { type: 'merge', body }, {}, never);
    const remove = (path: CollectionPath, mapName: string): Promise<JsonObject> =>
      client.delete({ ...path, name: mapName }, {}, never);
    const whereIs = async (path: CollectionPath): Promise<string> =>
      (await client.list(path, { limit: 1 }, never)).resourceVersion;

    /** One raw watch: its status, and its lines until it ends or `ms` are over. */
    const watched = async (
      path: CollectionPath & { readonly namespace: string },
      query: Query,
      ms = 5_000,
    ): Promise<{ readonly status: number; readonly lines: readonly Line[]; readonly isOpen: boolean }> => {
      const stop = new AbortController();
      const stream = await connection.openStream(
        { path: `/api/v1/namespaces/${path.namespace}/configmaps`, query: { watch: true, ...query } },
        stop.signal,
      );
      let text = '';
      let isOpen = true;
      const reading = (async () => {
        try {
          for await (const chunk of stream.body) text += String(chunk);
          isOpen = false;
        } catch {
          // Closed by us.
        }
      })();
      await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, ms))]);
      const wasOpen = isOpen;
      stream.close();
      stop.abort();
      await reading;
      const lines = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Line);
      return { status: stream.status, lines, isOpen: wasOpen };
    };
    const types = (lines: readonly Line[]): readonly string[] => lines.map(({ type }) => type);
    const endMarks = (lines: readonly Line[]): number =>
      lines.filter(({ object }) => JSON.stringify(object.metadata ?? {}).includes('k8s.io/initial-events-end')).length;

    const sourceOver = (
      over: KubeConnection,
      clock: Clock = hurried,
    ): ReturnType<typeof createKubernetesSource> & AsyncDisposable => {
      const source = createKubernetesSource({
        connection: over,
        locality: 'local',
        policy: resourcePolicy([], []),
        clock,
        logger: fakeLogger(),
      });
      return source as typeof source & AsyncDisposable;
    };
    const following = async (
      collection: Omit<Collection, 'target'>,
      from: string | undefined,
      act: (until: (last: string | RegExp) => Promise<readonly SourceEvent[]>) => Promise<void>,
      over = connection,
    ): Promise<void> => {
      await using source = sourceOver(over);
      const stop = new AbortController();
      const reader = new Reader(source.follow({ target, ...collection }, from as Cursor | undefined, stop.signal));
      const names = (event: SourceEvent): string => told(event).replace(/@\S+/, '');
      try {
        await act(async (last) => {
          const isLast = (event: SourceEvent): boolean =>
            typeof last === 'string' ? names(event) === last : last.test(names(event));
          const events: SourceEvent[] = [];
          for (;;) {
            const event = await reader.next(`${String(last)} after ${events.map(told).join(', ')}`, 15_000);
            if (event === undefined) throw new Error('the stream ended');
            events.push(event);
            if (isLast(event)) return events;
          }
        });
      } finally {
        stop.abort();
        await reader.rest('the end of an aborted stream', 1_000);
      }
    };
    const shown = (events: readonly SourceEvent[]): readonly string[] =>
      events
        .filter(({ kind }) => kind !== 'progress')
        .map(told)
        .map((line) => line.replace(/@\S+/, '').replace(/:.*/, ''))
        .filter((line) => !line.includes('kube-root-ca.crt'));

    describe('30, 2.4.1: what the server says', () => {
      it.each<[string, Query]>([
        ['a WatchList without resourceVersionMatch', { sendInitialEvents: true, allowWatchBookmarks: true }],
        [
          'a WatchList with Exact',
          { sendInitialEvents: true, allowWatchBookmarks: true, resourceVersionMatch: 'Exact', resourceVersion: '1' },
        ],
        ['resourceVersionMatch on a watch', { resourceVersionMatch: 'NotOlderThan', resourceVersion: '1' }],
      ])('%s is 422', async (_, query) => {
        const path = await space();

        await expect(
          client.json(
            {
              method: 'GET',
              path: `/api/v1/namespaces/${path.namespace}/configmaps`,
              query: { watch: true, ...query },
            },
            never,
          ),
        ).rejects.toMatchObject({
          code: 422,
          reason: 'Invalid',
          message: expect.stringContaining('resourceVersionMatch') as string,
        });
      });

      it('sendInitialEvents on a list is 422', async () => {
        const path = await space();

        await expect(
          client.json(
            {
              method: 'GET',
              path: `/api/v1/namespaces/${path.namespace}/configmaps`,
              query: { sendInitialEvents: true },
            },
            never,
          ),
        ).rejects.toMatchObject({
          code: 422,
          reason: 'Invalid',
          message: expect.stringContaining('sendInitialEvents') as string,
        });
      });

      it('a WatchList: ADDED by namespace and name, the end mark with a version of the store and nothing else', async () => {
        const path = await space();
        await create(path, 'b');
        await create(path, 'a');
        const query = {
          sendInitialEvents: true,
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: true,
          timeoutSeconds: 1,
        };

        const { status, lines, isOpen } = await watched(path, query);

        const own = lines.filter(({ object }) => object.metadata?.['name'] !== 'kube-root-ca.crt');
        expect([status, isOpen]).toEqual([200, false]);
        expect(types(own).slice(0, 3)).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
        expect(own.slice(0, 2).map(({ object }) => object.metadata?.['name'])).toEqual(['a', 'b']);
        const { metadata, ...rest } = own[2]?.object ?? {};
        expect(rest).toEqual({ kind: 'ConfigMap', apiVersion: 'v1' });
        expect(Object.keys(metadata ?? {}).sort()).toEqual(['annotations', 'resourceVersion']);
        expect(metadata).toMatchObject({ annotations: { 'k8s.io/initial-events-end': 'true' } });
        expect(Number(metadata?.['resourceVersion'])).toBeGreaterThanOrEqual(
          Math.max(...own.slice(0, 2).map(({ object }) => Number(object.metadata?.['resourceVersion']))),
        );
      });

      it('a WatchList without bookmarks never ends its initial events', async () => {
        const path = await space();
        await create(path, 'a');
        const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', timeoutSeconds: 10 };

        const { status, lines, isOpen } = await watched(path, query, 1_500);

        expect([status, isOpen, endMarks(lines)]).toEqual([200, true, 0]);
        expect(new Set(types(lines))).toEqual(new Set(['ADDED']));
      });

      it.each([['unset', {}] as const, ['0', { resourceVersion: '0' }] as const])(
        'a plain watch with version %s and bookmarks ends its initial events too',
        async (_, query) => {
          const path = await space();
          await create(path, 'a');

          const { lines } = await watched(path, { allowWatchBookmarks: true, timeoutSeconds: 10, ...query }, 1_000);

          expect(new Set(types(lines))).toEqual(new Set(['ADDED', 'BOOKMARK']));
          expect(endMarks(lines)).toBe(1);
        },
      );

      it('a version of the future: a WatchList is told after a while, with how long to wait', async () => {
        const path = await space();
        const query = {
          sendInitialEvents: true,
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: true,
          resourceVersion: '99999999',
          timeoutSeconds: 20,
        };

        const { status, lines, isOpen } = await watched(path, query, 10_000);

        expect([status, isOpen, types(lines)]).toEqual([200, false, ['ERROR']]);
        expect(lines[0]?.object).toMatchObject({
          code: 504,
          reason: 'Timeout',
          details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
        });
      }, 20_000);

      it('a version of the future: a plain watch is silent', async () => {
        const path = await space();
        const reading = watched(
          path,
          { allowWatchBookmarks: true, resourceVersion: '99999999', timeoutSeconds: 20 },
          3_000,
        );
        await create(path, 'a');

        expect(await reading).toEqual({ status: 200, lines: [], isOpen: true });
      });

      it('a version that is no number is a 500 without a reason that names resourceVersion', async () => {
        const path = await space();

        await expect(client.watch(path, { resourceVersion: 'abc', timeoutSeconds: 5 }, never)).rejects.toMatchObject({
          code: 500,
          message: expect.stringContaining('resourceVersion') as string,
        });
      });

      it('a time-out is a clean end without a word', async () => {
        const path = await space();
        const at = Date.now();

        const { lines, isOpen } = await watched(path, { resourceVersion: await whereIs(path), timeoutSeconds: 1 });

        expect([lines, isOpen]).toEqual([[], false]);
        expect(Date.now() - at).toBeGreaterThanOrEqual(900);
      });

      it('pages of one list share their version, and the last has no token', async () => {
        const path = await space();
        for (const each of ['a', 'b', 'c', 'd', 'e']) await create(path, each);
        const pages: { readonly names: readonly string[]; readonly version: string }[] = [];
        for (let token = '', isFirst = true; isFirst || token !== ''; isFirst = false) {
          const page = await client.list(path, { limit: 2, ...(token === '' ? {} : { continue: token }) }, never);
          if (pages.length === 1) await create(path, 'zz-late');
          pages.push({ names: page.items.map(({ metadata }) => metadata.name), version: page.resourceVersion });
          token = page.continue;
        }

        expect(new Set(pages.map(({ version }) => version)).size).toBe(1);
        const names = pages.flatMap((page) => page.names).filter((each) => each !== 'kube-root-ca.crt');
        expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
      });

      it('a delete without finalizer is one DELETED with a version of its own and the last state', async () => {
        const path = await space();
        const created = await create(path, 'a');
        const from = (created['metadata'] as JsonObject)['resourceVersion'] as string;
        await remove(path, 'a');

        const { lines } = await watched(path, { resourceVersion: from, timeoutSeconds: 1 });

        expect(types(lines)).toEqual(['DELETED']);
        expect(lines[0]?.object).toMatchObject({ data: { value: 'a' } });
        expect(lines[0]?.object.metadata?.['resourceVersion']).not.toBe(from);
        expect(lines[0]?.object.metadata).not.toHaveProperty('deletionTimestamp');
      });

      it('a delete with a finalizer is MODIFIED, then DELETED that still shows it', async () => {
        const path = await space();
        const created = await create(path, 'a', { finalizers: ['example.test/guard'] });
        const from = (created['metadata'] as JsonObject)['resourceVersion'] as string;
        await remove(path, 'a');
        await merge(path, 'a', { metadata: { finalizers: null } });

        const { lines } = await watched(path, { resourceVersion: from, timeoutSeconds: 1 });

        expect(types(lines)).toEqual(['MODIFIED', 'DELETED']);
        for (const { object } of lines)
          expect(object.metadata).toMatchObject({
            deletionTimestamp: expect.any(String) as string,
            finalizers: ['example.test/guard'],
          });
        expect(lines[1]?.object.metadata?.['resourceVersion']).not.toBe(lines[0]?.object.metadata?.['resourceVersion']);
      });
    });

    describe('the source', () => {
      it('says what is served: each type followable, or refused for one reason that nobody has to act on', async () => {
        await using source = sourceOver(connection);
        const stop = new AbortController();
        const reader = new Reader(source.surface(stop.signal));
        await source.start?.(stop.signal);
        const surface = (await reader.until(({ reach }) => reach.state === 'reachable', 'a first scan')).at(-1);
        stop.abort();
        await reader.rest('the end of the surface', 1_000);

        const verdictOf = (resource: string): unknown => {
          const found = surface?.types.find(
            ({ type: { group, resource: plural } }) => `${group}/${plural}` === resource,
          );
          return found === undefined ? undefined : [found.verdict, found.refusal?.reason];
        };
        expect(verdictOf('/configmaps')).toEqual(['followable', undefined]);
        expect(verdictOf('apps/deployments')).toEqual(['followable', undefined]);
        expect(verdictOf('/pods')).toEqual(['refused', 'denied-by-policy']);
        expect(verdictOf('authorization.k8s.io/selfsubjectaccessreviews')).toEqual(['refused', 'missing-verb']);
        expect(surface?.types.filter(({ refusal }) => refusal !== undefined && !refusal.silent)).toEqual([]);
      });

      it('tells what is there, then what changes: created, changed, removed, in order', async () => {
        const path = await space();
        await create(path, 'a');
        await following({ type: mapType, namespace: path.namespace }, undefined, async (until) => {
          expect(shown(await until('streaming'))).toEqual([
            'snapshot-begin',
            'upsert a snapshot',
            'snapshot-end',
            'streaming',
          ]);
          await create(path, 'b');
          await merge(path, 'b', { data: { value: 'b2' } });
          await remove(path, 'a');

          expect(shown(await until('deletion a'))).toEqual(['upsert b live', 'upsert b live', 'deletion a']);
        });
      });

      it('FC-WCH-7, EV-1, EV-3: a removal with a finalizer is told once, when it is asked for; a new object of that name is told', async () => {
        const path = await space();
        await following({ type: mapType, namespace: path.namespace }, undefined, async (until) => {
          await until('streaming');
          await create(path, 'a', { finalizers: ['example.test/guard', 'example.test/second'] });
          await remove(path, 'a');
          await merge(path, 'a', { metadata: { finalizers: ['example.test/second'] } });
          await merge(path, 'a', { metadata: { finalizers: null } });
          await create(path, 'a', {}, 'new');

          const events = [...(await until('deletion a')), ...(await until('upsert a live'))];

          expect(shown(events)).toEqual(['upsert a live', 'deletion a', 'upsert a live']);
        });
      });

      it('an object that waits for its finalizer is no member of a replay', async () => {
        const path = await space();
        await create(path, 'a', { finalizers: ['example.test/guard'] });
        await create(path, 'b');
        await remove(path, 'a');

        await following({ type: mapType, namespace: path.namespace }, undefined, async (until) => {
          expect(shown(await until('snapshot-end'))).toEqual(['snapshot-begin', 'upsert b snapshot', 'snapshot-end']);
          await merge(path, 'a', { metadata: { finalizers: null } });
          expect(shown(await until(/^(deletion|filtered) a/)).at(-1)).toBe('deletion a');
        });
      });

      it('a selector: objects come and go with their labels', async () => {
        const path = await space();
        await create(path, 'in', { labels: { tier: 'web' } });
        await create(path, 'out');
        const collection = { type: mapType, namespace: path.namespace, labelSelector: 'tier=web' };
        await following(collection, undefined, async (until) => {
          expect(shown(await until('streaming'))).toEqual([
            'snapshot-begin',
            'upsert in snapshot',
            'snapshot-end',
            'streaming',
          ]);
          await merge(path, 'out', { metadata: { labels: { tier: 'web' } } });
          await merge(path, 'out', { data: { value: 'b' } });
          await merge(path, 'out', { metadata: { labels: { tier: null } } });
          await merge(path, 'out', { data: { value: 'unseen' } });
          await merge(path, 'in', { data: { value: 'last' } });

          expect(shown(await until('upsert in live'))).toEqual([
            'upsert out live',
            'upsert out live',
            'filtered out',
            'upsert in live',
          ]);
        });
      });

      it('generateName: the name is the final one', async () => {
        const path = await space();
        await following({ type: mapType, namespace: path.namespace }, undefined, async (until) => {
          await until('streaming');
          await client.create(
            path,
            { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } },
            {},
            never,
          );

          expect(shown(await until(/^upsert made-/)).at(-1)).toMatch(/^upsert made-[a-z0-9]+ live$/);
        });
      });

      it('resumes from a cursor: only what changed since, deletions included', async () => {
        const path = await space();
        await create(path, 'a');
        let from = '';
        await following({ type: mapType, namespace: path.namespace }, undefined, async (until) => {
          const last = (await until('snapshot-end')).at(-1);
          from = last !== undefined && 'cursor' in last ? last.cursor : '';
        });
        await create(path, 'b');
        await remove(path, 'a');

        await following({ type: mapType, namespace: path.namespace }, from, async (until) => {
          expect(shown(await until('deletion a'))).toEqual(['streaming', 'upsert b live', 'deletion a']);
        });
      });

      it.each(['never issued', '99999999999'])(
        'a cursor that means nothing (%s): replays',
        async (from) => {
          const path = await space();
          await create(path, 'a');

          await following({ type: mapType, namespace: path.namespace }, from, async (until) => {
            expect(shown(await until('streaming'))).toEqual([
              'trouble ExpiredResourceVersion',
              'snapshot-begin',
              'upsert a snapshot',
              'snapshot-end',
              'streaming',
            ]);
          });
        },
        30_000,
      );

      it('a definition: its type is served within moments, its objects are followed, and go with it', async () => {
        await using source = sourceOver(connection, realClock);
        const plural = `gadgets${process.pid}x${spaces}`;
        const kind = `Gadget${process.pid}x${spaces}`;
        const type = { group: 'example.test', version: 'v1', resource: plural, kind, namespaced: true };
        const stop = new AbortController();
        let isServed = false;
        const watching = (async () => {
          for await (const { types: served } of source.surface(stop.signal))
            isServed = served.some((each) => each.type.resource === plural && each.verdict === 'followable');
        })();
        await source.start?.(stop.signal);
        // Past the scans that the start itself asks for.
        await new Promise((resolve) => setTimeout(resolve, 5_000));
        const at = Date.now();
        await client.create(definitions, definition(plural, kind), {}, never);
        await eventually(() => isServed);
        const took = Date.now() - at;
        const path = await space();
        const gadgets = { ...type, namespace: path.namespace };
        await following({ type, namespace: path.namespace }, undefined, async (until) => {
          await until('streaming');
          const body = { apiVersion: 'example.test/v1', kind, metadata: { name: 'one' }, spec: { size: 3 } };
          await client.create(gadgets, body, {}, never);
          await until('upsert one live');
          await client.delete({ ...definitions, name: `${plural}.example.test` }, {}, never);

          expect(shown(await until('deletion one')).at(-1)).toBe('deletion one');
        });
        stop.abort();
        await source[Symbol.asyncDispose]();
        await watching;

        expect(took).toBeLessThan(2_500);
      }, 40_000);

      it('who may read nothing is told which right is missing', async () => {
        if (server.powerless === undefined) return;
        const path = await space();
        await using powerless = connect(server.powerless);

        await following(
          { type: mapType, namespace: path.namespace },
          undefined,
          async (until) => {
            const trouble = (await until(/^trouble/)).at(-1);
            expect(trouble).toMatchObject({
              reason: 'WatchNotPermitted',
              message: `the credential may not list and watch configmaps in namespace ${path.namespace}; grant it get, list and watch`,
            });
          },
          powerless,
        );
      });

      it('20, 6.4: an object of a custom type says by which fields its lists are keyed', async () => {
        const path = await space();
        const [plural, kind] = [`lines${process.pid}`, `Line${process.pid}`];
        await client.create(definitions, definition(plural, kind), {}, never);
        const type = { group: 'example.test', version: 'v1', resource: plural, kind, namespaced: true };
        const collection = { ...type, namespace: path.namespace };
        const body = { apiVersion: 'example.test/v1', kind, metadata: { name: 'a' }, spec: { size: 1 } };
        // Served, and described, a moment after it was accepted.
        await succeeds(() => client.create(collection, body, {}, never));
        await succeeds(async () => {
          const document = await client.json({ method: 'GET', path: '/openapi/v3/apis/example.test/v1' }, never);
          expect(JSON.stringify(document)).toContain(kind);
        });

        await following({ type, namespace: path.namespace }, undefined, async (until) => {
          const upsert = (await until('upsert a snapshot')).at(-1);
          expect(upsert?.kind === 'upsert' && echoOf(upsert.object)).toEqual({
            listKeys: { 'spec/routes': ['host', 'path'] },
          });
        });
      }, 60_000);

      it('SC-18: many more collections of one server than streams on one connection, all streaming', async () => {
        const path = await space();
        await create(path, 'a');
        await using source = sourceOver(connection);
        const stop = new AbortController();
        const streaming = new Set<number>();
        const live = new Set<number>();
        let sockets = 0;
        const reading = Array.from({ length: server.collections }, async (_, index) => {
          // One in four is cluster-wide; all differ.
          const scope = index % 4 === 0 ? {} : { namespace: path.namespace };
          const collection = { target, type: mapType, ...scope, labelSelector: `c${index}!=x` };
          await new Promise((resolve) => setTimeout(resolve, Math.floor(index / parallel) * 20));
          for await (const event of source.follow(collection, undefined, stop.signal)) {
            if (event.kind === 'streaming') streaming.add(index);
            if (event.kind === 'upsert' && event.via === 'live' && event.ref.name === 'b') live.add(index);
          }
        });
        try {
          await eventually(() => streaming.size === server.collections, 30_000);
          sockets = process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
          await create(path, 'b');
          await eventually(() => live.size === server.collections, 30_000);
        } finally {
          stop.abort();
          await Promise.all(reading);
        }
        if (server.speaksHttp2 === true) expect(sockets).toBeLessThan(server.collections / 5);
        expect([streaming.size, live.size]).toEqual([server.collections, server.collections]);
      }, 90_000);

      it('FC-WCH-3: a restart expires every version; streams come back by replay, changes of the meantime included', async () => {
        const restart = server.restart?.bind(server);
        if (restart === undefined) return;
        const path = await space();
        await create(path, 'a');
        const bystander = await space();
        await following({ type: mapType, namespace: path.namespace }, undefined, async (until) => {
          await until('streaming');
          // The watch cache of a restarted server begins at the store's version; ours is older than that.
          for (let turn = 0; turn < 5; turn += 1) await create(bystander, `noise-${turn}`);
          await restart();
          // A connection kept for reuse may have been cut and not know it yet.
          await create(path, 'b').catch(() => create(path, 'b'));

          const events = [...(await until('snapshot-end')), ...(await until('streaming'))];

          const lines = shown(events);
          expect(lines.slice(lines.lastIndexOf('snapshot-begin'))).toEqual([
            'snapshot-begin',
            'upsert a snapshot',
            'upsert b snapshot',
            'snapshot-end',
            'streaming',
          ]);
          expect(lines).toContain('trouble ExpiredResourceVersion');
        });
      }, 120_000);
    });
  });
}

/** Servers take a moment to notice a definition. */
async function succeeds(act: () => Promise<unknown>): Promise<void> {
  for (let left = 60; ; left -= 1) {
    try {
      await act();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

const routesSchema: JsonObject = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['host', 'path'],
  items: {
    type: 'object',
    required: ['host', 'path'],
    properties: { host: { type: 'string' }, path: { type: 'string' }, port: { type: 'integer' } },
  },
};
const definition = (plural: string, kind: string): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.test` },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer' }, routes: routesSchema } },
            },
          },
        },
      },
    ],
  },
});
