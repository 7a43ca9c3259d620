import type { ServerResponse } from 'node:http';
import { listAll, listPages, type PagerEvent } from './list-pager.js';
import { KubeClient } from './requests.js';
import { configMap, connectTo, json, never, statusBody, stubServer, type Seen } from './testing/stub-server.js';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

/** Serves `total` objects in pages; `fault` may answer instead. */
function pages(
  total: number,
  fault: (token: number, request: Seen, response: ServerResponse) => boolean,
  version = (): string => '100',
) {
  return (request: Seen, response: ServerResponse): void => {
    const from = Number(request.query.get('continue') ?? 0);
    if (fault(from, request, response)) return;
    const limit = Number(request.query.get('limit') ?? total);
    const items = Array.from({ length: Math.min(limit, total - from) }, (_, at) => configMap(`c${from + at}`, '1'));
    const next = from + limit < total ? String(from + limit) : '';
    json(response, 200, {
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: version(), continue: next },
      items,
    });
  };
}
const expired = (response: ServerResponse): true => {
  // The token inside continues an inconsistent list; nobody may use it.
  json(response, 410, {
    ...statusBody(410, 'Expired', 'The provided continue parameter is too old'),
    metadata: { continue: 'inconsistent' },
  });
  return true;
};
const noFault = (): boolean => false;

async function run(
  answer: (request: Seen, response: ServerResponse) => void,
  limit = 200,
): Promise<{ events: PagerEvent[]; asked: (string | null)[]; limits: (string | null)[] }> {
  await using server = await stubServer(answer);
  await using connection = connectTo(server.url);
  const events: PagerEvent[] = [];
  for await (const event of listPages(new KubeClient(connection), configMaps, { limit, labelSelector: 'a=b' }, never))
    events.push(event);
  expect(server.seen.every(({ query }) => query.get('labelSelector') === 'a=b')).toBe(true);
  return {
    events,
    asked: server.seen.map(({ query }) => query.get('continue')),
    limits: server.seen.map(({ query }) => query.get('limit')),
  };
}
const told = (events: readonly PagerEvent[]): unknown[] =>
  events.map((event) => (event.kind === 'page' ? event.items.length : event.kind));

it('pages through, and says when it is complete', async () => {
  const { events } = await run(pages(500, noFault));

  expect(told(events)).toEqual([200, 200, 100, 'complete']);
  expect(events.at(-1)).toEqual({ kind: 'complete', resourceVersion: '100' });
});

it('FC-WCH-5: a 410 on page three restarts from page one, without the inconsistent token', async () => {
  let failures = 1;
  const { events, asked } = await run(
    pages(500, (from, _, response) => from === 400 && failures-- > 0 && expired(response)),
  );

  expect(told(events)).toEqual([200, 200, 'restart', 200, 200, 100, 'complete']);
  expect(asked).toEqual([null, '200', '400', null, '200', '400']);
});

it('FC-WCH-5: after three restarts one list without pages', async () => {
  const { events, limits } = await run(pages(500, (from, _, response) => from === 400 && expired(response)));

  expect(told(events)).toEqual([
    200,
    200,
    'restart',
    200,
    200,
    'restart',
    200,
    200,
    'restart',
    200,
    200,
    'restart',
    500,
    'complete',
  ]);
  expect(limits.at(-1)).toBeNull();
});

it('pages of different versions are no list', async () => {
  let version = 100;
  const { events } = await run(pages(300, noFault, () => String(version++ < 102 ? version : 200)));

  expect(told(events)).toEqual([200, 'restart', 200, 100, 'complete']);
});

it('WP-20: any other failure leaves the list incomplete', async () => {
  const failing = run(
    pages(
      500,
      (from, _, response) => from === 200 && (json(response, 503, statusBody(503, 'ServiceUnavailable', 'down')), true),
    ),
  );

  await expect(failing).rejects.toMatchObject({ code: 503 });
});

it('a 410 on the first page is no reason to ask the same again', async () => {
  await expect(run(pages(10, (_, __, response) => expired(response)))).rejects.toMatchObject({ code: 410 });
});

it('a page above the size limit is asked for again in smaller ones', async () => {
  await using server = await stubServer(pages(40, noFault));
  await using connection = connectTo(server.url, { maxBodyBytes: 4_000 });

  const { items } = await listAll(new KubeClient(connection), configMaps, { limit: 40 }, never);

  expect(items).toHaveLength(40);
  expect(server.seen.map(({ query }) => query.get('limit'))).toEqual(['40', '10', '10', '10', '10']);
});
