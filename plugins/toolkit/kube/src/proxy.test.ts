import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { openKubeConnection } from './connection.js';
import { selfSigned } from './testing/certificates.js';
import { json, never, realClock, staticCredentials, stubServer } from './testing/stub-server.js';

interface Proxy extends AsyncDisposable {
  readonly port: number;
  readonly asked: readonly { readonly target: string; readonly authorization: string | undefined }[];
}

/** An HTTP proxy that tunnels, as `proxy-url` names one. */
async function proxy(): Promise<Proxy> {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const sockets: Socket[] = [];
  const server = createServer().on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) sockets.push(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

it('tunnels requests and watches through an allowed proxy, with TLS to the API server inside', async () => {
  const certificate = selfSigned();
  await using server = await stubServer((_, response) => json(response, 200, {}), certificate);
  await using between = await proxy();
  const credentials = {
    ...staticCredentials(server.url, { ca: certificate.cert }),
    proxyUrl: `http://ann:pw@127.0.0.1:${between.port}`,
  };
  await using connection = openKubeConnection({ credentials, clock: realClock, allowH2: true });

  const answer = await connection.request({ method: 'GET', path: '/version' }, never);
  const stream = await connection.openStream({ path: '/api/v1/pods' }, never);
  stream.close();

  const { host } = new URL(server.url);
  expect([answer.status, stream.status]).toEqual([200, 200]);
  expect(between.asked).toEqual([
    { target: host, authorization: 'Basic YW5uOnB3' },
    { target: host, authorization: 'Basic YW5uOnB3' },
  ]);
  expect(server.seen.every(({ headers }) => headers['proxy-authorization'] === undefined)).toBe(true);
});

it('a proxy that is not there is a refused connection, without its password', async () => {
  const credentials = { ...staticCredentials('https://api.example.test'), proxyUrl: 'http://ann:s3cret@127.0.0.1:1' };
  await using connection = openKubeConnection({ credentials, clock: realClock });

  await expect(connection.request({ method: 'GET', path: '/version' }, never)).rejects.toMatchObject({
    reason: 'ConnectionRefused',
    message: expect.not.stringContaining('s3cret'),
  });
});
