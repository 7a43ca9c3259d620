import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ApiClient } from './api-client.js';

let server: Server;
let seen: { method: string | undefined; url: string | undefined; type: string | undefined; body: string }[];
let answer: { status: number; body: string };
let api: ApiClient;

beforeEach(async () => {
  seen = [];
  answer = { status: 200, body: '{"kind":"ConfigMap"}' };
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, type: request.headers['content-type'], body });
      response.writeHead(request.headers.authorization === 'Bearer t' ? answer.status : 401).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = new ApiClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 't' });
});
afterEach(async () => {
  api[Symbol.dispose]();
  await new Promise((resolve) => server.close(resolve));
});

it('reads without a body and posts with one', async () => {
  const got = await api.request('/api/v1/x');
  await api.request('/api/v1/x', { body: { a: 1 } });

  expect(got).toEqual({ kind: 'ConfigMap' });
  expect(seen).toEqual([
    { method: 'GET', url: '/api/v1/x', type: undefined, body: '' },
    { method: 'POST', url: '/api/v1/x', type: 'application/json', body: '{"a":1}' },
  ]);
});

it('applies a manifest as it is written', async () => {
  await api.apply('/api/v1/x/y', 'kind: X\n');

  expect(seen).toEqual([
    {
      method: 'PATCH',
      url: '/api/v1/x/y?fieldManager=e2e-harness&force=true',
      type: 'application/apply-patch+yaml',
      body: 'kind: X\n',
    },
  ]);
});

it.each([
  ['a Status', '{"kind":"Status","message":"namespaces \\"x\\" not found"}', 'namespaces "x" not found'],
  ['plain text', 'upstream is gone', 'upstream is gone'],
])('a refusal carries the words of the server: %s', async (_why, body, words) => {
  answer = { status: 404, body };

  await expect(api.request('/api/v1/x')).rejects.toMatchObject({
    status: 404,
    message: `GET /api/v1/x was answered 404: ${words}`,
  });
});
