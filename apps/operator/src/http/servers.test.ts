import { X509Certificate } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { parseBindAddress } from './bind-address.js';
import { startHealthServer } from './health-server.js';
import { startMetricsServer } from './metrics-server.js';
import { fingerprint, selfSigned } from './self-signed.js';

const loopback = '127.0.0.1:0';

describe('health server', () => {
  it('is alive at once and ready when every check passes', async () => {
    let missing: string | undefined = 'waiting for gittargets';
    await using server = await startHealthServer(loopback, [{ name: 'caches', check: () => missing }]);
    const get = (path: string) => fetch(`http://127.0.0.1:${server?.port}${path}`);

    const [alive, early] = [await get('/healthz'), await get('/readyz')];
    missing = undefined;
    const ready = await get('/readyz');

    expect([alive.status, early.status, await early.text(), ready.status]).toEqual([
      200,
      503,
      'caches: waiting for gittargets\n',
      200,
    ]);
  });

  it('FC-OPS-3: is alive but not ready while it stops', async () => {
    await using server = await startHealthServer(loopback, []);

    server?.leave();

    const get = (path: string) => fetch(`http://127.0.0.1:${server?.port}${path}`);
    expect([(await get('/healthz')).status, (await get('/readyz')).status]).toEqual([200, 503]);
  });

  it('is off when the address is 0', async () => {
    expect(await startHealthServer('0', [])).toBeUndefined();
  });

  it('names the setting when the port is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };

    await expect(startHealthServer(`127.0.0.1:${port}`, [])).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port} (EADDRINUSE); free the port or set --health-probe-bind-address`,
    );

    await new Promise((resolve) => taken.close(resolve));
  });
});

describe('metrics server', () => {
  const base = {
    bindAddress: loopback,
    contentType: 'text/plain; version=0.0.4',
    scrape: async () => 'up 1\n',
    buildInfo: { version: '1.2.3' },
  };

  it('serves metrics and build information in plain HTTP when told to', async () => {
    await using server = await startMetricsServer(base);
    const get = (path: string) => fetch(`http://127.0.0.1:${server?.port}${path}`);

    expect(await (await get('/metrics')).text()).toBe('up 1\n');
    expect(await (await get('/build-info')).json()).toEqual({ version: '1.2.3' });
    expect((await get('/')).status).toBe(404);
  });

  it.each([
    { who: 'nobody', header: {}, status: 401 },
    { who: 'a token that may not', header: { authorization: 'Bearer wrong' }, status: 403 },
    { who: 'a token that may', header: { authorization: 'Bearer right' }, status: 200 },
    { who: 'a token nobody could check', header: { authorization: 'Bearer down' }, status: 503 },
  ])('answers $who with $status', async ({ header, status }) => {
    const authorize = async (token: string) => {
      if (token === 'down') throw new Error('API server away');
      return token === 'right';
    };
    await using server = await startMetricsServer({ ...base, authorize });

    const response = await fetch(`http://127.0.0.1:${server?.port}/metrics`, {
      headers: header as Record<string, string>,
    });

    expect(response.status).toBe(status);
  });

  it('serves TLS with a certificate made in memory', async () => {
    const certificate = selfSigned(['reverser-metrics.reverser-system.svc'], new Date());
    await using server = await startMetricsServer({ ...base, tls: certificate });

    const status = await new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: server?.port,
        path: '/metrics',
        ca: certificate.cert,
        servername: 'reverser-metrics.reverser-system.svc',
        agent: false,
      };
      httpsRequest(options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });

    expect(status).toBe(200);
    expect(new X509Certificate(certificate.cert).subjectAltName).toBe('DNS:reverser-metrics.reverser-system.svc');
    expect(fingerprint(certificate.cert)).toBe(
      new X509Certificate(certificate.cert).fingerprint256.replaceAll(':', '').toLowerCase(),
    );
  });
});

it.each([
  { text: ':8081', parsed: { host: '::', port: 8081 } },
  { text: '[::1]:80', parsed: { host: '::1', port: 80 } },
  { text: '10.0.0.1:80', parsed: { host: '10.0.0.1', port: 80 } },
])('reads the bind address $text', ({ text, parsed }) => {
  expect(parseBindAddress(text)).toEqual(parsed);
});
