import { gzipSync } from 'node:zlib';
import { createServer, type AddressInfo } from 'node:net';
import { fakeClock } from '@gitops-reverser/kernel-testing';
import { selfSigned } from './testing/certificates.js';
import { connectTo, json, never, realClock, staticCredentials, stubServer } from './testing/stub-server.js';
import { openKubeConnection } from './connection.js';

const get = (path: string): { method: 'GET'; path: string } => ({ method: 'GET', path });

describe('requests', () => {
  it('FC-KCP-1: every request stays below the path of the server URL', async () => {
    await using server = await stubServer((request, response) =>
      json(response, request.path.startsWith('/clusters/ab12/') ? 200 : 404, {}),
    );
    await using connection = connectTo(`${server.url}/clusters/ab12`);

    const answers = [
      await connection.request(get('/api/v1/namespaces'), never),
      await connection.request({ ...get('/apis'), query: { limit: 1 } }, never),
    ];
    const stream = await connection.openStream({ path: '/api/v1/pods', query: { watch: true } }, never);
    stream.close();

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(server.seen.map(({ url }) => url)).toEqual([
      '/clusters/ab12/api/v1/namespaces',
      '/clusters/ab12/apis?limit=1',
      '/clusters/ab12/api/v1/pods?watch=true',
    ]);
  });

  it('sends the credential and who we are, every time', async () => {
    await using server = await stubServer((_, response) => json(response, 200, {}));
    await using connection = connectTo(server.url, { userAgent: 'reverser/1' });

    await connection.request(get('/version'), never);

    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer stub-token',
      'user-agent': 'reverser/1',
      accept: 'application/json',
    });
  });

  it('two hundred requests in a row share a connection', async () => {
    await using server = await stubServer((_, response) => json(response, 200, {}));
    await using connection = connectTo(server.url);

    for (let i = 0; i < 200; i++) await connection.request(get('/version'), never);

    expect(server.connections).toBeLessThanOrEqual(2);
  });

  it('never follows a redirect: credentials would travel along', async () => {
    await using target = await stubServer((_, response) => json(response, 200, {}));
    await using server = await stubServer(
      (_, response) => void response.writeHead(302, { location: `${target.url}/steal` }).end(),
    );
    await using connection = connectTo(server.url);

    await expect(connection.request(get('/api'), never)).rejects.toMatchObject({ reason: 'RedirectRefused', code: 0 });
    await expect(connection.openStream({ path: '/api' }, never)).rejects.toMatchObject({ reason: 'RedirectRefused' });
    expect(target.seen).toEqual([]);
  });

  it('SC-19: reads gzip, and counts decompressed bytes against the limit', async () => {
    const body = gzipSync('x'.repeat(100_000));
    await using server = await stubServer(
      (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
    );
    await using roomy = connectTo(server.url, { maxBodyBytes: 100_000 });
    await using tight = connectTo(server.url, { maxBodyBytes: 99_999 });

    expect((await roomy.request(get('/api'), never)).body).toHaveLength(100_000);
    await expect(tight.request(get('/api'), never)).rejects.toMatchObject({
      reason: 'ResponseTooLarge',
      retry: 'backoff',
    });
  });

  it.each([
    {
      name: 'a body that is no gzip',
      headers: { 'content-encoding': 'gzip' },
      body: 'plain',
      reason: 'MalformedResponse',
    },
    {
      name: 'gzip that was cut',
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync('y'.repeat(1_000)).subarray(0, 20),
      reason: 'ConnectionCut',
    },
    {
      name: 'an encoding nobody asked for',
      headers: { 'content-encoding': 'br' },
      body: 'x',
      reason: 'MalformedResponse',
    },
  ])('$name is a named error', async ({ headers, body, reason }) => {
    await using server = await stubServer((_, response) => void response.writeHead(200, headers).end(body));
    await using connection = connectTo(server.url);

    await expect(connection.request(get('/api'), never)).rejects.toMatchObject({ reason });
  });

  it('SC-14: the rate limit holds requests and the opening of watches, not open watches', async () => {
    const clock = fakeClock();
    await using server = await stubServer((_, response) => json(response, 200, {}));
    await using connection = connectTo(server.url, { clock, rateLimit: { qps: 1, burst: 2 } });
    (await connection.openStream({ path: '/a' }, never)).close();
    await connection.request(get('/b'), never);

    const third = connection.request(get('/c'), never);
    await clock.settle();
    const before = server.seen.length;
    await clock.advance(1_000);
    await third;

    expect([before, server.seen.length]).toEqual([2, 3]);
  });
});

describe('bad days', () => {
  it('a refused connection names the server and what to check', async () => {
    await using server = await stubServer(() => undefined);
    const { url } = server;
    await server[Symbol.asyncDispose]();
    await using connection = connectTo(url);

    await expect(connection.request(get('/api'), never)).rejects.toMatchObject({
      reason: 'ConnectionRefused',
      retry: 'backoff',
      message: `GET /api on ${url}: the connection was refused; check that the API server runs and listens at this address (ECONNREFUSED)`,
    });
  });

  it('a host name that does not resolve', async () => {
    await using connection = connectTo('https://no-such-host.invalid');

    await expect(connection.request(get('/api'), never)).rejects.toMatchObject({ reason: 'NameNotResolved' });
  });

  it('a connection cut in the middle of an answer', async () => {
    await using server = await stubServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"a":');
      setImmediate(() => response.destroy());
    });
    await using connection = connectTo(server.url);

    await expect(connection.request(get('/api'), never)).rejects.toMatchObject({ reason: 'ConnectionCut' });
  });

  it('SC-15: a server that accepts and never answers ends at the request timeout', async () => {
    const clock = fakeClock();
    await using server = await stubServer(() => undefined);
    await using connection = connectTo(server.url, { clock });

    const asked = connection.request({ ...get('/api'), timeoutMs: 15_000 }, never);
    const refused = expect(asked).rejects.toMatchObject({ reason: 'RequestTimeout' });
    await clock.advance(15_000);

    await refused;
    expect(clock.sleeping).toBe(0);
  });

  it('SC-18: a watch without response headers after 30 s is closed as failed', async () => {
    const clock = fakeClock();
    await using server = await stubServer(() => undefined);
    await using connection = connectTo(server.url, { clock });

    const opening = connection.openStream({ path: '/api/v1/pods' }, never);
    const refused = expect(opening).rejects.toMatchObject({ reason: 'HeadersTimeout' });
    await clock.advance(30_000);

    await refused;
  });

  it('an abort throws its own reason, promptly', async () => {
    await using server = await stubServer(() => undefined);
    await using connection = connectTo(server.url);
    const abort = new AbortController();

    const both = [
      connection.request(get('/api'), abort.signal),
      connection.openStream({ path: '/api' }, abort.signal),
    ].map((each) => expect(each).rejects.toThrow('going down'));
    abort.abort(new Error('going down'));

    await Promise.all(both);
  });

  it('after close nothing is sent', async () => {
    await using server = await stubServer((_, response) => json(response, 200, {}));
    const connection = connectTo(server.url);
    await connection.close();

    await expect(connection.request(get('/api'), never)).rejects.toMatchObject({ reason: 'ConnectionClosed' });
    await expect(connection.openStream({ path: '/api' }, never)).rejects.toMatchObject({ reason: 'ConnectionClosed' });
  });

  it('a port that speaks something else', async () => {
    const server = createServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end('SSH-2.0-OpenSSH_9\r\n'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await using connection = connectTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

    await expect(connection.request(get('/api'), never)).rejects.toMatchObject({ reason: 'MalformedResponse' });
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('TLS', () => {
  const trusted = selfSigned('right');

  it('trusts the given authority and no other', async () => {
    await using server = await stubServer((_, response) => json(response, 200, {}), trusted);
    await using right = openKubeConnection({
      credentials: staticCredentials(server.url, { ca: trusted.cert }),
      clock: realClock,
    });
    await using wrong = openKubeConnection({
      credentials: staticCredentials(server.url, { ca: selfSigned('wrong').cert }),
      clock: realClock,
    });

    expect((await right.request(get('/api'), never)).status).toBe(200);
    await expect(wrong.request(get('/api'), never)).rejects.toMatchObject({
      reason: 'TlsFailed',
      message: expect.stringContaining('certificate-authority-data'),
    });
    await expect(wrong.openStream({ path: '/api' }, never)).rejects.toMatchObject({ reason: 'TlsFailed' });
    expect(server.seen).toHaveLength(1);
  });

  it('a server name that the certificate does not hold is refused', async () => {
    await using server = await stubServer((_, response) => json(response, 200, {}), trusted);
    await using connection = openKubeConnection({
      credentials: staticCredentials(server.url, { ca: trusted.cert, servername: 'kubernetes' }),
      clock: realClock,
    });

    await expect(connection.request(get('/api'), never)).rejects.toMatchObject({ reason: 'TlsFailed' });
  });

  it('changed TLS material opens new connections, a changed token does not', async () => {
    await using server = await stubServer((_, response) => json(response, 200, {}), trusted);
    let token = 'one';
    let tls = { ca: trusted.cert };
    const credentials = {
      server: server.url,
      material: () => Promise.resolve({ headers: { authorization: `Bearer ${token}` }, tls }),
    };
    await using connection = openKubeConnection({ credentials, clock: realClock });

    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

    await connection.request(get('/a'), never);
    await turn();
    token = 'two';
    await connection.request(get('/b'), never);
    await turn();
    const afterToken = server.connections;
    tls = { ca: `${trusted.cert}\n` };
    await connection.request(get('/c'), never);

    expect([afterToken, server.connections]).toEqual([1, 2]);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two', 'Bearer two']);
  });
});
