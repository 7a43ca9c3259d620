import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { openKubeConnection, type KubeConnection } from './connection.js';
import { usableStreams } from './http2-streams.js';
import { KubeClient } from './requests.js';
import { selfSigned } from './testing/certificates.js';
import {
  bookmark,
  configMap,
  json,
  line,
  never,
  realClock,
  staticCredentials,
  stubServer,
} from './testing/stub-server.js';

const certificate = selfSigned();
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const options = { timeoutSeconds: 300 };

interface Http2Stub extends AsyncDisposable {
  readonly url: string;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  readonly streams: readonly ServerHttp2Stream[];
  readonly sockets: readonly Socket[];
}

/** Answers every watch with one event, over HTTP/2 with a stream limit; everything else over whatever is asked. */
async function http2Stub(
  maxConcurrentStreams: number,
  answer: (stream: ServerHttp2Stream) => void,
): Promise<Http2Stub> {
  const server: Http2SecureServer = createSecureServer({
    ...certificate,
    allowHTTP1: true,
    settings: { maxConcurrentStreams },
  });
  const sessions = new Set<ServerHttp2Session>();
  const streams: ServerHttp2Stream[] = [];
  const sockets: Socket[] = [];
  server.on('secureConnection', (socket) => sockets.push(socket));
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream) => {
    streams.push(stream);
    stream.on('error', () => undefined).respond({ ':status': 200, 'content-type': 'application/json' });
    answer(stream);
  });
  server.on('request', (request, response) => {
    if (request.httpVersionMajor === 1) response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    streams,
    sockets,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const connectH2 = (url: string): KubeConnection =>
  openKubeConnection({
    credentials: staticCredentials(url, { ca: certificate.cert }),
    clock: realClock,
    allowH2: true,
  });

it.each([
  [100, 90],
  [4, 3],
  [1, 1],
])('SC-18: of %i streams a connection %i are used', (limit, used) => {
  expect(usableStreams(limit)).toBe(used);
});

it('SC-18: twenty watches against a server that allows four streams a connection are all streaming', async () => {
  await using server = await http2Stub(4, (stream) => stream.write(line('ADDED', configMap('a', '1'))));
  await using connection = connectH2(server.url);
  const client = new KubeClient(connection);

  const watches = await Promise.all(Array.from({ length: 20 }, () => client.watch(configMaps, options, never)));
  const first = await Promise.all(watches.map((watch) => watch[Symbol.asyncIterator]().next()));

  expect(first.every(({ value }) => value?.kind === 'event')).toBe(true);
  expect(server.sessions.size).toBe(7);
  for (const watch of watches) watch.close();
});

it('SC-18: requests other than watches have a connection of their own', async () => {
  await using server = await http2Stub(1, (stream) => stream.write(line('ADDED', configMap('a', '1'))));
  await using connection = connectH2(server.url);
  const watch = await new KubeClient(connection).watch(configMaps, options, never);

  const answer = await connection.request({ method: 'GET', path: '/version' }, never);

  expect([answer.status, server.streams.length]).toEqual([200, 1]);
  watch.close();
});

it('a place that becomes free is used again', async () => {
  await using server = await http2Stub(4, (stream) => stream.write(line('ADDED', configMap('a', '1'))));
  await using connection = connectH2(server.url);
  const client = new KubeClient(connection);

  for (let i = 0; i < 10; i++) {
    const watch = await client.watch(configMaps, options, never);
    await watch[Symbol.asyncIterator]().next();
    watch.close();
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(server.streams).toHaveLength(10);
  expect(server.sessions.size).toBeLessThanOrEqual(2);
});

describe('ends', () => {
  async function lastFrame(end: (stream: ServerHttp2Stream, server: Http2Stub) => void): Promise<unknown> {
    await using server = await http2Stub(100, (stream) => stream.write(line('ADDED', configMap('a', '1'))));
    await using connection = connectH2(server.url);
    let last: unknown;
    for await (const frame of await new KubeClient(connection).watch(configMaps, options, never)) {
      last = frame;
      if (frame.kind === 'event') end(server.streams[0] as ServerHttp2Stream, server);
    }
    return last;
  }

  it('the server ends the stream: an ordinary end', async () => {
    expect(await lastFrame((stream) => stream.end(bookmark('2')))).toMatchObject({ kind: 'ended', cause: 'server' });
  });

  it.each([
    { name: 'the stream is reset', end: (stream: ServerHttp2Stream) => stream.destroy(new Error('reset')) },
    {
      name: 'the socket is cut',
      end: (_: ServerHttp2Stream, server: Http2Stub) => {
        for (const socket of server.sockets) socket.destroy();
      },
    },
    { name: 'the session is destroyed', end: (stream: ServerHttp2Stream) => stream.session?.destroy() },
    { name: 'the server goes away with an error', end: (stream: ServerHttp2Stream) => stream.session?.goaway(2) },
  ])('$name: never mistaken for an ordinary end', async ({ end }) => {
    expect(await lastFrame(end)).toMatchObject({ kind: 'ended', cause: 'cut' });
  });
});

it('falls back to HTTP/1.1 when ALPN does not offer h2, one connection a watch', async () => {
  await using server = await stubServer(
    (_, response) => void response.write(line('ADDED', configMap('a', '1'))),
    certificate,
  );
  await using connection = connectH2(server.url);
  const client = new KubeClient(connection);

  const watches = await Promise.all([1, 2, 3].map(() => client.watch(configMaps, options, never)));
  const first = await Promise.all(watches.map((watch) => watch[Symbol.asyncIterator]().next()));

  expect(first.map(({ value }) => value?.kind)).toEqual(['event', 'event', 'event']);
  for (const watch of watches) watch.close();
});

it('a certificate of another authority is refused over HTTP/2 as well', async () => {
  await using server = await stubServer((_, response) => json(response, 200, {}), selfSigned('other'));
  await using connection = connectH2(server.url);

  await expect(connection.openStream({ path: '/api' }, never)).rejects.toMatchObject({ reason: 'TlsFailed' });
});

it('an abort while connecting ends promptly', async () => {
  await using server = await http2Stub(4, () => undefined);
  await using connection = connectH2(server.url);
  const abort = new AbortController();

  const opening = connection.openStream({ path: '/api' }, abort.signal);
  abort.abort(new Error('stop'));

  await expect(opening).rejects.toThrow('stop');
});
