import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fakeClock } from '@gitops-reverser/kernel-testing';
import { KubeClient, type WatchOptions } from './requests.js';
import type { WatchFrame } from './watch-stream.js';
import { bookmark, configMap, connectTo, json, line, never, statusBody, stubServer } from './testing/stub-server.js';

const configMaps = { group: '', version: 'v1', resource: 'configmaps', namespace: 'shop' };

async function framesOf(
  answer: (response: ServerResponse) => void,
  options: Partial<WatchOptions> = {},
): Promise<WatchFrame[]> {
  await using server = await stubServer((_, response) => answer(response));
  await using connection = connectTo(server.url);
  const frames: WatchFrame[] = [];
  const watch = await new KubeClient(connection).watch(configMaps, { timeoutSeconds: 300, ...options }, never);
  for await (const frame of watch) frames.push(frame);
  return frames;
}

const kinds = (frames: readonly WatchFrame[]): unknown[] =>
  frames.map((frame) =>
    frame.kind === 'ended' ? `ended: ${frame.cause}` : frame.kind === 'event' ? frame.type : frame.kind,
  );

it('asks for a WatchList in the one form a server accepts (30, 2.4 step 2)', async () => {
  await using server = await stubServer((_, response) => void response.end());
  await using connection = connectTo(server.url);
  const client = new KubeClient(connection);

  (
    await client.watch(configMaps, { sendInitialEvents: true, timeoutSeconds: 301, labelSelector: 'a=b' }, never)
  ).close();
  (await client.watch(configMaps, { resourceVersion: '7', timeoutSeconds: 302 }, never)).close();

  expect(server.seen.map(({ query }) => Object.fromEntries(query))).toEqual([
    {
      watch: 'true',
      labelSelector: 'a=b',
      timeoutSeconds: '301',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    },
    { watch: 'true', resourceVersion: '7', timeoutSeconds: '302', allowWatchBookmarks: 'true' },
  ]);
  expect(server.seen[0]?.headers['accept-encoding']).toBe('identity');
});

it('reads a WatchList up to its end mark and beyond', async () => {
  const frames = await framesOf((response) =>
    response.end(
      [
        line('ADDED', configMap('a', '3')),
        bookmark('9', true),
        line('MODIFIED', configMap('a', '10')),
        bookmark('12'),
        line('DELETED', configMap('a', '13')),
      ].join(''),
    ),
  );

  expect(kinds(frames)).toEqual(['ADDED', 'initial-events-end', 'MODIFIED', 'bookmark', 'DELETED', 'ended: server']);
  expect(frames.slice(0, 2)).toMatchObject([
    { object: configMap('a', '3'), resourceVersion: '3' },
    { resourceVersion: '9' },
  ]);
});

it('keeps integers beyond 2^53 (FC-SAN-9)', async () => {
  const text =
    '{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"n":9007199254740993}}}\n';

  const [frame] = await framesOf((response) => response.end(text));

  expect(frame).toMatchObject({ object: { spec: { n: 9007199254740993n } } });
});

it('a character cut by a chunk comes out whole', async () => {
  const bytes = Buffer.from(line('ADDED', { ...configMap('a', '1'), data: { text: '€'.repeat(50) } }));
  const middle = bytes.indexOf('€') + 1;

  const [frame] = await framesOf((response) => {
    response.write(bytes.subarray(0, middle));
    setImmediate(() => response.end(bytes.subarray(middle)));
  });

  expect(frame).toMatchObject({ object: { data: { text: '€'.repeat(50) } } });
});

describe('ends, each with its cause', () => {
  it('the server just ends the stream, as at its timeout', async () => {
    expect(await framesOf((response) => response.end())).toMatchObject([{ kind: 'ended', cause: 'server', bytes: 0 }]);
  });

  it('FC-WCH-3: an ERROR event with code 410 under HTTP 200', async () => {
    const frames = await framesOf((response) =>
      response.end(line('ERROR', statusBody(410, 'Expired', 'too old resource version: 1 (22065)'))),
    );

    expect(frames).toMatchObject([{ kind: 'error', error: { code: 410, reason: 'Expired' } }]);
  });

  it('ResourceVersionTooLarge, with the wait it asks for', async () => {
    const details = {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    };

    const frames = await framesOf((response) =>
      response.end(
        line('ERROR', statusBody(504, 'Timeout', 'Timeout: Too large resource version: 9, current: 3', details)),
      ),
    );

    expect(frames).toMatchObject([
      { kind: 'error', error: { code: 504, retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] } },
    ]);
  });

  it('a connection cut in the middle of a line', async () => {
    const frames = await framesOf((response) => {
      response.write(line('ADDED', configMap('a', '1')) + '{"type":"MODI');
      setTimeout(() => response.destroy(), 20);
    });

    expect(kinds(frames)).toEqual(['ADDED', 'ended: cut']);
    expect(frames[1]).toMatchObject({ error: { reason: 'ConnectionCut' } });
  });

  it('a proxy that ends the answer properly in the middle of a line', async () => {
    const frames = await framesOf((response) => response.end(line('ADDED', configMap('a', '1')) + '{"type":"MODI'));

    expect(kinds(frames)).toEqual(['ADDED', 'ended: cut']);
  });

  it.each([
    { name: 'no JSON', text: '{"type": s3cret}\n' },
    { name: 'an HTML page', text: '<html>s3cret</html>\n' },
    { name: 'an unknown type', text: line('CHANGED', configMap('s3cret', '1')) },
    { name: 'an object without a version', text: line('ADDED', { metadata: { name: 's3cret' } }) },
    { name: 'a list', text: '["s3cret"]\n' },
  ])('a line that is $name, without repeating it', async ({ text }) => {
    const frames = await framesOf((response) => response.end(text + line('ADDED', configMap('a', '1'))));

    expect(kinds(frames)).toEqual(['ended: malformed']);
    expect(frames[0]).toMatchObject({
      error: { reason: 'MalformedResponse', message: expect.not.stringContaining('s3cret') },
    });
  });

  it('a line above the limit', async () => {
    const frames = await framesOf((response) => response.end(line('ADDED', configMap('a', '1')) + 'x'.repeat(2_000)), {
      maxLineBytes: 1_000,
    });

    expect(kinds(frames)).toEqual(['ADDED', 'ended: oversized']);
  });
});

describe('FC-WCH-1: the watch that goes quiet', () => {
  it('SC-16: is closed by us after timeoutSeconds and 30 s without a byte', async () => {
    const clock = fakeClock();
    await using server = await stubServer((_, response) => void response.write(line('ADDED', configMap('a', '1'))));
    await using connection = connectTo(server.url, { clock });
    const watch = await new KubeClient(connection).watch(configMaps, { timeoutSeconds: 300 }, never);
    const frames = watch[Symbol.asyncIterator]();
    await frames.next();

    const end = frames.next();
    await clock.advance(329_999);
    expect(clock.sleeping).toBeGreaterThan(0);
    await clock.advance(1);

    expect(await end).toMatchObject({
      value: { kind: 'ended', cause: 'silence', aliveMs: 330_000, error: { reason: 'RequestTimeout' } },
    });
    expect(clock.sleeping).toBe(0);
  });

  it('a busy consumer does not make a server silent', async () => {
    const clock = fakeClock();
    await using server = await stubServer(
      (_, response) => void response.write(line('ADDED', configMap('a', '1')) + bookmark('2')),
    );
    await using connection = connectTo(server.url, { clock });
    const watch = await new KubeClient(connection).watch(configMaps, { timeoutSeconds: 300 }, never);
    const frames = watch[Symbol.asyncIterator]();
    await frames.next();

    await clock.advance(3_600_000);

    expect(await frames.next()).toMatchObject({ value: { kind: 'bookmark' } });
    watch.close();
  });
});

it('reading pauses while the consumer is busy', async () => {
  const body = Buffer.from(line('ADDED', { ...configMap('a', '1'), data: { filler: 'x'.repeat(100_000) } }));
  let written = 0;
  await using server = await stubServer((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(body)) written += 1;
      written += 1;
      response.once('drain', more);
    };
    more();
  });
  await using connection = connectTo(server.url);
  const watch = await new KubeClient(connection).watch(configMaps, { timeoutSeconds: 300 }, never);
  const frames = watch[Symbol.asyncIterator]();
  await frames.next();

  let before = -1;
  for (let quiet = 0; quiet < 5; quiet = written === before ? quiet + 1 : 0) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  // Socket buffers of both ends hold some megabytes; an endless server would be far beyond.
  expect(written * body.length).toBeLessThan(64 * 1024 * 1024);
  watch.close();
});

it('an abort ends the iteration quietly and closes the connection', async () => {
  const closed: Promise<void>[] = [];
  await using server = await stubServer((_, response) => {
    response.write(line('ADDED', configMap('a', '1')));
    closed.push(new Promise((resolve) => response.on('close', resolve)));
  });
  await using connection = connectTo(server.url);
  const abort = new AbortController();
  const seen: WatchFrame[] = [];

  for await (const frame of await new KubeClient(connection).watch(configMaps, { timeoutSeconds: 300 }, abort.signal)) {
    seen.push(frame);
    setImmediate(() => abort.abort());
  }

  expect(kinds(seen)).toEqual(['ADDED']);
  await Promise.all(closed);
});

it('a stream that ended leaves its connection for the next one', async () => {
  await using server = await stubServer((_, response) => void response.end(bookmark('1')));
  await using connection = connectTo(server.url);
  const client = new KubeClient(connection);

  for (let i = 0; i < 3; i++) {
    const frames = (await client.watch(configMaps, { timeoutSeconds: 300 }, never))[Symbol.asyncIterator]();
    while ((await frames.next()).done !== true) continue;
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(server.connections).toBe(1);
});

it.each([
  { status: 401, reason: 'Unauthorized', retry: 'backoff' },
  { status: 403, reason: 'Forbidden', retry: 'backoff' },
  { status: 404, reason: 'NotFound', retry: 'backoff' },
  { status: 410, reason: 'Expired', retry: 'backoff' },
  { status: 422, reason: 'Invalid', retry: 'when-changed' },
  { status: 429, reason: 'TooManyRequests', retry: 'backoff', retryAfterSeconds: 5 },
])('a watch refused with $status says so before it starts', async ({ status, reason, ...rest }) => {
  await using server = await stubServer((_, response) =>
    json(response, status, statusBody(status, reason, 'no'), { 'retry-after': '5' }),
  );
  await using connection = connectTo(server.url);

  await expect(new KubeClient(connection).watch(configMaps, { timeoutSeconds: 300 }, never)).rejects.toMatchObject({
    code: status,
    reason,
    ...rest,
  });
});

it.each(['watchlist-configmaps', 'f-dep', 'f-ns', 'f-pod', 'f-rs', 'error-expired', 'error-too-large'])(
  'reads what kube-apiserver 1.36 sent: %s',
  async (name) => {
    const recorded = await readFile(join(import.meta.dirname, '../fixtures/watch', `${name}.jsonl`));

    const frames = await framesOf((response) => response.end(recorded));

    expect(frames.filter((frame) => frame.kind === 'ended' && frame.cause !== 'server')).toEqual([]);
    expect(frames.length).toBeGreaterThan(0);
  },
);
