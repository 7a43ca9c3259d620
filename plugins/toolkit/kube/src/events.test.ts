import type { KubeObject } from '@gitops-reverser/kernel-api';
import { fakeClock, fakeLogger } from '@gitops-reverser/kernel-testing';
import { EventRecorder, type EventFacts } from './events.js';
import { KubeClient } from './requests.js';
import { connectTo, json, never, statusBody, stubServer, type Answerer, type Seen } from './testing/stub-server.js';

const regarding = {
  apiVersion: 'reverser.example.test/v1',
  kind: 'GitTarget',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7' },
} as unknown as KubeObject;
const facts: EventFacts = {
  regarding,
  type: 'Warning',
  reason: 'FolderRefused',
  message: 'folder apps holds a file that is not ours',
};
const accept: Answerer = (_, response) => json(response, 201, {});

async function withRecorder(
  answer: Answerer,
  use: (
    recorder: EventRecorder,
    seen: readonly Seen[],
    clock: ReturnType<typeof fakeClock>,
    logger: ReturnType<typeof fakeLogger>,
  ) => Promise<void>,
): Promise<void> {
  const clock = fakeClock('2026-01-01T00:00:00.250Z');
  const logger = fakeLogger();
  await using server = await stubServer(answer);
  await using connection = connectTo(server.url, { clock });
  await use(
    new EventRecorder({ client: new KubeClient(connection), component: 'gitops-reverser', instance: 'pod-1', logger }),
    server.seen,
    clock,
    logger,
  );
}

it('ST-6: an event says who, what and when', async () => {
  await withRecorder(accept, async (recorder, seen) => {
    await recorder.emit(facts, never);

    expect(seen).toMatchObject([{ method: 'POST', path: '/api/v1/namespaces/shop/events' }]);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
      involvedObject: {
        apiVersion: 'reverser.example.test/v1',
        kind: 'GitTarget',
        name: 'web',
        namespace: 'shop',
        uid: 'u1',
        resourceVersion: '7',
      },
      type: 'Warning',
      reason: 'FolderRefused',
      message: 'folder apps holds a file that is not ours',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'gitops-reverser' },
      reportingComponent: 'gitops-reverser',
      reportingInstance: 'pod-1',
    });
  });
});

it('ST-6: equal events within ten minutes are one event with a count', async () => {
  await withRecorder(accept, async (recorder, seen, clock) => {
    await recorder.emit(facts, never);
    await clock.advance(599_000);
    await recorder.emit(facts, never);
    await recorder.emit({ ...facts, reason: 'Other' }, never);
    await clock.advance(1_000);
    await recorder.emit(facts, never);

    expect(seen.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST', 'POST']);
    expect(JSON.parse(seen[1]?.body ?? '')).toEqual({ count: 2, lastTimestamp: '2026-01-01T00:09:59Z' });
  });
});

it('a first event that expired is made anew', async () => {
  await withRecorder(
    (request, response) =>
      json(
        response,
        request.method === 'PATCH' ? 404 : 201,
        request.method === 'PATCH' ? statusBody(404, 'NotFound', 'gone') : {},
      ),
    async (recorder, seen) => {
      await recorder.emit(facts, never);
      await recorder.emit(facts, never);

      expect(seen.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    },
  );
});

it('events of cluster-scoped objects live in the default namespace', async () => {
  await withRecorder(accept, async (recorder, seen) => {
    await recorder.emit(
      { ...facts, regarding: { ...regarding, metadata: { name: 'prod' } } as unknown as KubeObject },
      never,
    );

    expect(seen[0]?.path).toBe('/api/v1/namespaces/default/events');
  });
});

it('an event that cannot be stored fails nothing', async () => {
  await withRecorder(
    (_, response) => json(response, 403, statusBody(403, 'Forbidden', 'no')),
    async (recorder, _, __, logger) => {
      await recorder.emit(facts, never);

      expect(logger.lines).toMatchObject([
        { level: 'warn', message: 'event not stored', fields: { kind: 'GitTarget', name: 'web', reason: 'Forbidden' } },
      ]);
    },
  );
});
