import type { ServerResponse } from 'node:http';
import { fakeClock, fakeLogger, type FakeClock } from '@gitops-reverser/kernel-testing';
import { openInformer, type Informer } from './informer.js';
import { KubeClient } from './requests.js';
import {
  bookmark,
  configMap,
  connectTo,
  eventually,
  json,
  line,
  statusBody,
  stubServer,
  type Answerer,
  type Seen,
  type StubServer,
} from './testing/stub-server.js';

const path = { group: '', version: 'v1', resource: 'configmaps' };
const noJitter = (): number => 0;

interface Bench {
  readonly informer: Informer;
  readonly server: StubServer;
  readonly clock: FakeClock;
  readonly changes: string[];
  readonly logger: ReturnType<typeof fakeLogger>;
}

async function withInformer(answer: Answerer, use: (bench: Bench) => Promise<void>): Promise<void> {
  const clock = fakeClock();
  const logger = fakeLogger();
  await using server = await stubServer(answer);
  await using connection = connectTo(server.url, { clock });
  const changes: string[] = [];
  await using informer = openInformer({ client: new KubeClient(connection), path, logger, random: noJitter });
  informer.onChange(({ kind, object }) =>
    changes.push(`${kind} ${object.metadata.name}@${object.metadata.resourceVersion}`),
  );
  await use({ informer, server, clock, changes, logger });
}

/** One answer per request, in order; further requests stay open and silent. */
function script(...answers: readonly Answerer[]): Answerer {
  let next = 0;
  return (request, response) =>
    void (answers[next++] ?? ((_, silent) => void silent.writeHead(200).flushHeaders()))(request, response);
}
const write =
  (...lines: readonly string[]): Answerer =>
  (_: Seen, response: ServerResponse) =>
    void response.write(lines.join(''));
const end =
  (...lines: readonly string[]): Answerer =>
  (_, response) =>
    void response.end(lines.join(''));
const refuse =
  (code: number, reason: string, message = 'no', headers = {}): Answerer =>
  (_, response) =>
    json(response, code, statusBody(code, reason, message), headers);
const list =
  (version: string, ...items: object[]): Answerer =>
  (_, response) =>
    json(response, 200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: version }, items });

it('is synced at the end mark, then follows', async () => {
  const replay = [line('ADDED', configMap('b', '2')), line('ADDED', configMap('a', '1')), bookmark('5', true)];
  await withInformer(
    script(write(...replay, line('MODIFIED', configMap('a', '6')), line('DELETED', configMap('b', '7')))),
    async ({ informer, changes }) => {
      await informer.synced;
      await eventually(() => changes.length === 4);

      expect(changes).toEqual(['added b@2', 'added a@1', 'updated a@6', 'deleted b@7']);
      expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['a']);
      expect([
        informer.get('a', 'shop')?.metadata.resourceVersion,
        informer.get('a', 'other'),
        informer.list('other'),
      ]).toEqual(['6', undefined, []]);
    },
  );
});

it('resumes from the last version after the server ended a healthy stream', async () => {
  let first: ServerResponse | undefined;
  const opening: Answerer = (_, response) => {
    first = response;
    response.write(line('ADDED', configMap('a', '1')) + bookmark('5', true));
  };
  await withInformer(
    script(opening, write(line('MODIFIED', configMap('a', '9')))),
    async ({ informer, server, clock, changes }) => {
      await informer.synced;
      await clock.advance(120_000);
      first?.end(bookmark('8'));
      await eventually(() => changes.length === 2);

      expect(changes).toEqual(['added a@1', 'updated a@9']);
      expect(server.seen[1]?.query.get('resourceVersion')).toBe('8');
    },
  );
});

it.each([
  {
    name: 'an ERROR event 410',
    again: end(
      line('ADDED', configMap('a', '1')),
      bookmark('5', true),
      line('ERROR', statusBody(410, 'Expired', 'too old')),
    ),
  },
  {
    name: 'a cut connection',
    again: ((_, response) => {
      response.write(line('ADDED', configMap('a', '1')) + bookmark('5', true));
      setTimeout(() => response.destroy(), 10);
    }) satisfies Answerer,
  },
  { name: 'a malformed line', again: end(line('ADDED', configMap('a', '1')), bookmark('5', true), 'nonsense\n') },
])('FC-WCH-3: after $name the whole set is read again and differences are told', async ({ again }) => {
  await withInformer(
    script(again, write(line('ADDED', configMap('b', '8')), bookmark('9', true))),
    async ({ informer, server, clock, changes }) => {
      await informer.synced;
      await eventually(() => clock.due().length === 1);
      await clock.advance(2_000);
      await eventually(() => changes.length === 3);

      expect(changes).toEqual(['added a@1', 'deleted a@1', 'added b@8']);
      expect(server.seen[1]?.query.get('resourceVersion')).toBeNull();
    },
  );
});

it('FC-WCH-5, WP-20: a replay cut before its end mark changes nothing', async () => {
  const whole = [line('ADDED', configMap('a', '1')), line('ADDED', configMap('b', '2')), bookmark('5', true)];
  await withInformer(
    script(end(...whole), end(line('ADDED', configMap('a', '1'))), write(...whole)),
    async ({ informer, server, clock, changes }) => {
      await informer.synced;
      for (const requests of [2, 3]) {
        await eventually(() => clock.due().length === 1);
        await clock.advanceToNext();
        await eventually(() => server.seen.length === requests);
      }
      await eventually(() => informer.trouble === undefined);

      expect(changes).toEqual(['added a@1', 'added b@2']);
    },
  );
});

describe('FC-WCH-4: servers without streaming lists', () => {
  it.each([
    {
      name: '422',
      first: refuse(422, 'Invalid', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch'),
    },
    { name: '400', first: refuse(400, 'BadRequest', 'unknown parameter sendInitialEvents') },
    {
      name: '422 of a server before 1.27',
      first: refuse(422, 'Invalid', 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch'),
    },
    {
      name: 'an ERROR event with code 500',
      first: end(line('ERROR', statusBody(500, 'InternalError', 'etcd cannot report progress'))),
    },
  ])('$name: falls back to list and watch at once', async ({ first }) => {
    await withInformer(
      script(first, list('7', configMap('a', '1')), write(line('ADDED', configMap('b', '8')))),
      async ({ informer, server, clock, changes }) => {
        await eventually(() => server.seen.length > 1 || clock.due().length > 0);
        await clock.settle();
        await eventually(() => changes.length === 2);

        expect(changes).toEqual(['added a@1', 'added b@8']);
        expect(server.seen.map(({ query }) => [query.get('watch'), query.get('resourceVersion')])).toEqual([
          ['true', null],
          [null, null],
          ['true', '7'],
        ]);
        expect(informer.isSynced).toBe(true);
      },
    );
  });

  it('an end mark that never comes: falls back after the deadline, and nothing was taken for complete', async () => {
    await withInformer(
      script(write(line('ADDED', configMap('a', '1'))), list('7', configMap('a', '1'))),
      async ({ informer, server, clock }) => {
        await eventually(() => server.seen.length === 1 && clock.due().length === 2);
        await clock.advance(59_999);
        expect(informer.isSynced).toBe(false);
        await clock.advance(1);
        await informer.synced;

        expect(informer.list()).toHaveLength(1);
      },
    );
  });
});

it('FC-WCH-1: a stream that goes quiet is closed and read again', async () => {
  const whole = [line('ADDED', configMap('a', '1')), bookmark('5', true)];
  await withInformer(script(write(...whole), write(...whole)), async ({ informer, server, clock, logger }) => {
    await informer.synced;
    await clock.advance(330_000 + 2_000);
    await eventually(() => server.seen.length === 2);

    expect(logger.said('watch interrupted').map(({ fields }) => fields['reason'])).toEqual(['RequestTimeout']);
  });
});

it('FC-WCH-2: climbs the ladder while the server is down, and honours Retry-After', async () => {
  const down = refuse(503, 'ServiceUnavailable');
  await withInformer(
    script(
      down,
      down,
      refuse(429, 'TooManyRequests', 'slow down', { 'retry-after': '20' }),
      write(bookmark('5', true)),
    ),
    async ({ informer, server, clock, logger }) => {
      const waits: number[] = [];
      for (const requests of [1, 2, 3]) {
        await eventually(() => server.seen.length === requests && clock.due().length === 1);
        waits.push((clock.due()[0]?.getTime() ?? 0) - clock.now().getTime());
        await clock.advanceToNext();
      }
      await informer.synced;

      expect(waits).toEqual([2_000, 5_000, 20_000]);
      expect(informer.trouble).toBeUndefined();
      // One line for the outage, not one for each reason it went through.
      expect(logger.said('watch interrupted').map(({ fields }) => fields['reason'])).toEqual(['ServiceUnavailable']);
    },
  );
});

it('a type that is not there yet, or not permitted, is asked for again', async () => {
  await withInformer(
    script(refuse(404, 'NotFound'), refuse(403, 'Forbidden'), write(bookmark('5', true))),
    async ({ informer, server, clock }) => {
      const reasons: unknown[] = [];
      for (const requests of [1, 2]) {
        await eventually(() => server.seen.length === requests && clock.due().length === 1);
        reasons.push(informer.trouble?.reason);
        await clock.advanceToNext();
      }
      await informer.synced;

      expect(reasons).toEqual(['NotFound', 'Forbidden']);
    },
  );
});

it('an object deleted and created again unseen is told as both', async () => {
  const again = line('ADDED', configMap('a', '8', { uid: 'another' }));
  await withInformer(
    script(end(line('ADDED', configMap('a', '1')), bookmark('5', true)), write(again, bookmark('9', true))),
    async ({ clock, changes, informer }) => {
      await informer.synced;
      await eventually(() => clock.due().length === 1);
      await clock.advanceToNext();
      await eventually(() => changes.length === 3);

      expect(changes).toEqual(['added a@1', 'deleted a@1', 'added a@8']);
    },
  );
});

it('a listener that throws stops neither the others nor the informer', async () => {
  await withInformer(
    script(write(line('ADDED', configMap('a', '1')), bookmark('5', true))),
    async ({ informer, changes, logger }) => {
      informer.onChange(() => {
        throw new Error('listener');
      });
      await informer.synced;

      expect(changes).toEqual(['added a@1']);
      expect(logger.said('a listener failed')).toHaveLength(1);
    },
  );
});

it('closing ends promptly, rejects a sync that never came, and leaves no timer', async () => {
  await withInformer(script(write(line('ADDED', configMap('a', '1')))), async ({ informer, server, clock }) => {
    await eventually(() => server.seen.length === 1);
    await informer.close();

    await expect(informer.synced).rejects.toMatchObject({ name: 'AbortError' });
    expect(clock.sleeping).toBe(0);
  });
});
