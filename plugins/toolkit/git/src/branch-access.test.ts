import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { fakeLogger } from '@gitops-reverser/kernel-testing';
import { openBranchStore } from './branch-store.js';
import { commitOn, openBench, signal, tipOf, wallClock, type Bench } from './hosted-store.fixture.js';
import { probeRemote } from './probe.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterEach(() => bench.host.clearFaults());
afterAll(() => bench[Symbol.asyncDispose]());

const FILES = { files: { 'a.yaml': 'a: 1\n' } };
const thrown = async (acting: Promise<unknown>): Promise<{ reason?: string; message: string }> =>
  acting.then(
    (value) => ({ message: `did not fail: ${JSON.stringify(value)}` }),
    (error: unknown) => error as { message: string },
  );
const probe = { version: '0.1.0', clock: wallClock, logger: fakeLogger() };

describe('credentials', () => {
  const PASSWORD = 'pa^ss/w%rd "é"';

  it.each([
    { why: 'basic', credentials: { kind: 'basic', username: 'ada', password: PASSWORD }, scheme: 'basic' },
    {
      why: 'a token as password without a user name (Azure, FC-PSH-10)',
      credentials: { kind: 'basic', username: '', password: 'only-a-token' },
      scheme: 'basic',
    },
    { why: 'bearer', credentials: { kind: 'bearer', token: 'bearer-token' }, scheme: 'bearer' },
  ] as const)('are sent with the first request: $why', async ({ why, credentials, scheme }) => {
    const name = `credentials-${why.split(' ')[0]}-${scheme}-${why.length}`;
    await bench.host.createRepository(name, {
      ...FILES,
      access: {
        anonymous: 'none',
        accounts: [
          { user: 'ada', password: PASSWORD, may: 'write' },
          { password: 'only-a-token', may: 'write' },
          { bearer: 'bearer-token', may: 'write' },
        ],
      },
    });
    const store = bench.open({ url: bench.host.urlOf(name), credentials, allowHttp: true });

    const base = await store.observe(signal());
    const outcome = await store.publish(base, await commitOn(store, tipOf(base), { 'b.yaml': '1\n' }), signal());

    expect(outcome.kind).toBe('published');
    expect(
      new Set(
        bench.host.requests({ repository: name }).map(({ authorization, status }) => `${authorization} ${status}`),
      ),
    ).toEqual(new Set([`${scheme} 200`]));
  });

  it('FC-PSH-9: are read anew for every session: a rotated secret needs no restart', async () => {
    await bench.host.createRepository('rotated', {
      ...FILES,
      access: { anonymous: 'none', accounts: [{ user: 'ada', password: 'first', may: 'write' }] },
    });
    let password = 'first';
    const store = bench.open({
      url: bench.host.urlOf('rotated'),
      allowHttp: true,
      credentials: () => Promise.resolve({ kind: 'basic', username: 'ada', password }),
    });
    await store.observe(signal());
    bench.host.setAccess('rotated', {
      anonymous: 'none',
      accounts: [{ user: 'ada', password: 'second', may: 'write' }],
    });

    const refused = await thrown(store.observe(signal()));
    password = 'second';

    expect(refused.reason).toBe('AuthenticationFailed');
    expect((await store.observe(signal())).kind).toBe('branch');
  });

  it('6.1: are not sent over plain http, unless the install allows it', async () => {
    const credentials = { kind: 'basic', username: 'ada', password: 'secret' } as const;
    await bench.host.createRepository('insecure', FILES);

    const open = (given: Parameters<typeof openBranchStore>[0]['credentials']) =>
      openBranchStore({
        ...probe,
        url: bench.host.urlOf('insecure'),
        branch: 'main',
        ...(given === undefined ? {} : { credentials: given }),
      });

    expect(() => open(credentials)).toThrow(/plain http/);
    await using late = open(() => Promise.resolve(credentials));
    expect((await thrown(late.observe(signal()))).reason).toBe('InsecureTransport');
    expect(bench.host.requests({ repository: 'insecure' })).toEqual([]);
  });

  it.each([
    { why: 'none where one is needed', access: { anonymous: 'none' }, reason: 'AuthenticationFailed' },
    {
      why: 'a wrong one',
      access: { anonymous: 'read', accounts: [{ user: 'ada', password: 'other', may: 'write' }] },
      credentials: true,
      reason: 'AuthenticationFailed',
    },
  ] as const)('refused on reading: $why', async ({ why, access, reason, ...rest }) => {
    const name = `refused-${why.length}`;
    await bench.host.createRepository(name, { ...FILES, access });
    const store = bench.open({
      url: bench.host.urlOf(name),
      allowHttp: true,
      ...('credentials' in rest ? { credentials: { kind: 'basic', username: 'ada', password: 'secret-of-ada' } } : {}),
    });

    const error = await thrown(store.observe(signal()));

    expect(error.reason).toBe(reason);
    expect(error.message).not.toContain('secret-of-ada');
  });

  it('that only read are told at the first push, which is not sent', async () => {
    await bench.host.createRepository('read-only', {
      ...FILES,
      access: { anonymous: 'none', accounts: [{ user: 'ada', password: 'secret', may: 'read' }] },
    });
    const store = bench.open({
      url: bench.host.urlOf('read-only'),
      allowHttp: true,
      credentials: { kind: 'basic', username: 'ada', password: 'secret' },
    });
    const base = await store.observe(signal());

    const error = await thrown(store.publish(base, await commitOn(store, tipOf(base), { 'b.yaml': '1\n' }), signal()));

    expect(error.reason).toBe('PushForbidden');
    expect(bench.host.requests({ repository: 'read-only', step: 'push' })).toEqual([]);
  });

  it('that may read anonymously but not write are told so', async () => {
    await bench.host.createRepository('public', { ...FILES, access: { anonymous: 'read' } });
    const store = bench.open({ url: bench.host.urlOf('public') });
    const base = await store.observe(signal());

    expect(
      (await thrown(store.publish(base, await commitOn(store, tipOf(base), { 'b.yaml': '1\n' }), signal()))).reason,
    ).toBe('AuthenticationFailed');
  });

  it('a repository that is not there is named', async () => {
    const store = bench.open({ url: bench.host.urlOf('never-was') });

    expect(await thrown(store.observe(signal()))).toMatchObject({
      reason: 'RepositoryNotFound',
      message: expect.stringMatching(/never-was\.git: HTTP 404 .*check spec\.url and the Secret$/) as unknown,
    });
  });

  it('a host that does not answer, or does not exist, is a matter of time', async () => {
    const nobody = bench.open({ url: 'http://127.0.0.1:9/x.git' });
    const nowhere = bench.open({ url: 'https://no-such-host.invalid/x.git' });

    expect(await thrown(nobody.observe(signal()))).toMatchObject({
      reason: 'RemoteUnavailable',
      details: { sent: false },
    });
    expect((await thrown(nowhere.observe(signal()))).reason).toBe('RemoteUnavailable');
  });
});

describe('FC-SEC-4: secrets in what a remote says', () => {
  const secret = 'pa^ss/w%rd "é"';
  const forms = [
    secret,
    Buffer.from(secret).toString('base64'),
    Buffer.from(`ada:${secret}`).toString('base64'),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ];
  const said = `https://ada:${encodeURIComponent(secret)}@git.test/x ${forms.join(' | ')} Authorization: Basic ${Buffer.from(`ada:${secret}`).toString('base64')}`;

  it.each([400, 401, 403, 404, 413, 429, 500])('HTTP %d', async (status) => {
    const name = `canary-${status}`;
    await bench.host.createRepository(name, FILES);
    const store = bench.open({
      url: bench.host.urlOf(name),
      allowHttp: true,
      credentials: { kind: 'basic', username: 'ada', password: secret },
    });
    const base = await store.observe(signal());
    const head = await commitOn(store, tipOf(base), { 'b.yaml': '1\n' });
    await bench.host.inject({ kind: 'answer', status, body: said }, { repository: name, times: 9 });

    for (const error of [await thrown(store.observe(signal())), await thrown(store.publish(base, head, signal()))]) {
      const shown = `${error.message} ${JSON.stringify(error)} ${String((error as { cause?: unknown }).cause)}`;
      for (const form of forms) expect(shown).not.toContain(form);
      expect(error.reason).toBeDefined();
    }
  });

  it('a hook', async () => {
    const repository = await bench.host.createRepository('canary-hook', FILES);
    await repository.installHook('pre-receive', `cat >&2 <<'X'\n${said}\nX\nexit 1`);
    const store = bench.open({
      url: bench.host.urlOf('canary-hook'),
      allowHttp: true,
      credentials: { kind: 'basic', username: 'ada', password: secret },
    });
    const base = await store.observe(signal());

    const error = await thrown(store.publish(base, await commitOn(store, tipOf(base), { 'b.yaml': '1\n' }), signal()));

    for (const form of forms) expect(error.message).not.toContain(form);
    expect(error).toMatchObject({
      reason: 'ProtectedBranch',
      message: expect.stringContaining('[redacted]') as unknown,
    });
  });
});

describe('addresses', () => {
  it.each([
    {
      url: 'ssh://git@git.test/a/b.git',
      reason: 'PluginUnavailable',
      says: 'asks for SSH, which this build does not speak; use the https address',
    },
    { url: 'git@git.test:a/b.git', reason: 'PluginUnavailable', says: 'asks for SSH' },
    { url: 'https://u:hunter2@git.test/a', reason: 'UserInfoInURL', says: 'contains credentials; remove them' },
    { url: 'file:///etc/passwd', reason: 'InvalidSpec', says: 'it begins with file://' },
    { url: '/srv/git/a.git', reason: 'InvalidSpec', says: 'it is a local path' },
  ])('$url is refused before anything is opened', ({ url, reason, says }) => {
    const open = (): unknown => openBranchStore({ ...probe, url, branch: 'main' });

    expect(open).toThrow(says);
    expect(open).toThrow(expect.objectContaining({ reason }) as Error);
    expect(open).not.toThrow('hunter2');
  });

  it.each([
    '',
    'HEAD',
    'refs/heads/x',
    '-x',
    'a..b',
    'a@{b',
    'a b',
    'a.lock',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a\u0001',
    'a~b',
    'a\\b',
  ])('%j is refused as a branch', (branch) => {
    expect(() => openBranchStore({ ...probe, url: 'https://git.test/a', branch })).toThrow('is no name for a branch');
  });
});

describe('probeRemote', () => {
  it('tells an empty repository from one that is not, and what HEAD names', async () => {
    await bench.host.createRepository('probe-empty', { defaultBranch: 'trunk' });
    await bench.host.createRepository('probe-filled', FILES);
    const dangling = await bench.host.createRepository('probe-dangling', FILES);
    await dangling.git('symbolic-ref', 'HEAD', 'refs/heads/gone');

    expect(await probeRemote({ ...probe, url: bench.host.urlOf('probe-empty') }, signal())).toEqual({
      isEmpty: true,
      hasDefaultBranch: false,
      defaultBranch: 'trunk',
    });
    expect(await probeRemote({ ...probe, url: bench.host.urlOf('probe-filled') }, signal())).toEqual({
      isEmpty: false,
      hasDefaultBranch: true,
      defaultBranch: 'main',
    });
    expect(await probeRemote({ ...probe, url: bench.host.urlOf('probe-dangling') }, signal())).toEqual({
      isEmpty: false,
      hasDefaultBranch: false,
      defaultBranch: 'gone',
    });
  });

  it('fails with the reason of its condition', async () => {
    expect((await thrown(probeRemote({ ...probe, url: bench.host.urlOf('probe-nothing') }, signal()))).reason).toBe(
      'RepositoryNotFound',
    );
  });
});

/** Passes everything on to the bench's host, unless `act` answered. */
const relay =
  (act: (request: IncomingMessage, response: ServerResponse) => boolean): RequestListener =>
  (request, response) => {
    if (act(request, response)) return;
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined || name === 'host' || name === 'connection'
        ? []
        : [[name, String(value)] as [string, string]],
    );
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const hasBody = request.method === 'POST';
      fetch(`${bench.host.url}${request.url ?? ''}`, {
        method: request.method ?? 'GET',
        headers: headers.filter(([name]) => name !== 'content-length'),
        ...(hasBody ? { body: Buffer.concat(chunks) } : {}),
      })
        .then(async (answer) => {
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
          response.end(Buffer.from(await answer.arrayBuffer()));
        })
        .catch(() => response.destroy());
    });
  };

describe('hosting quirks (chapter 40, 4.11)', () => {
  const serve = async (listener: RequestListener): Promise<{ url: string; [Symbol.asyncDispose](): Promise<void> }> => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      [Symbol.asyncDispose]: () =>
        new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
    };
  };

  it('speaks protocol 0 with a server that knows no other, and offers it multi_ack (FC-PSH-10)', async () => {
    const repository = await bench.host.createRepository('v0', FILES);
    await bench.host.inject({ kind: 'require-multi-ack' }, { repository: 'v0', on: 'fetch' });
    await using old = await serve(
      relay((request, response) => {
        const wasV2 = request.headers['git-protocol'] !== undefined;
        delete request.headers['git-protocol'];
        if (!wasV2 || request.method === 'GET') return false;
        request.resume();
        response.writeHead(400).end('TF401041');
        return true;
      }),
    );
    const store = bench.open({ url: `${old.url}/v0.git` });

    const first = await store.observe(signal());
    const theirs = await repository.commitFiles('main', { 'a.yaml': 'a: 2\n', 'n.yaml': '1\n' });
    const second = await store.observe(signal());
    const outcome = await store.publish(second, await commitOn(store, tipOf(second), { 'b.yaml': '1\n' }), signal());

    expect(first.kind).toBe('branch');
    expect(second).toEqual({ kind: 'branch', commit: theirs });
    expect(outcome.kind).toBe('published');
    await repository.fsck();
  });

  it('an empty repository of such a server begins with main', async () => {
    await bench.host.createRepository('v0-empty');
    await using old = await serve(
      relay((request, response) => {
        const wasPost = request.method === 'POST' && request.headers['git-protocol'] !== undefined;
        delete request.headers['git-protocol'];
        if (wasPost) response.writeHead(500).end();
        return wasPost;
      }),
    );

    expect(await bench.open({ url: `${old.url}/v0-empty.git` }).observe(signal())).toEqual({ kind: 'root' });
  });

  it('asks for nothing a strict host did not offer', async () => {
    const repository = await bench.host.createRepository('strict', FILES);
    await bench.host.inject({ kind: 'refuse-chunked' }, { repository: 'strict' });
    const store = bench.open({ url: bench.host.urlOf('strict') });

    const base = await store.observe(signal());
    const large = 'x'.repeat(3_000_000);
    const head = await commitOn(
      store,
      tipOf(base),
      Object.fromEntries(Array.from({ length: 40 }, (_, nth) => [`${nth}.txt`, `${nth}${large}${Math.random()}`])),
    );
    const outcome = await store.publish(base, head, signal());

    expect(outcome.kind).toBe('published');
    const requests = bench.host.requests({ repository: 'strict' });
    expect(new Set(requests.map(({ userAgent }) => userAgent))).toEqual(new Set(['git/gitops-reverser-0.1.0']));
    expect(
      requests.filter(({ method }) => method === 'POST').map(({ step, contentType }) => `${step} ${contentType}`),
    ).toEqual([
      'fetch application/x-git-upload-pack-request',
      'fetch application/x-git-upload-pack-request',
      'push application/x-git-receive-pack-request',
    ]);
    await repository.fsck();
  });

  it('follows a renamed repository on the same host, to the end of the store', async () => {
    const repository = await bench.host.createRepository('renamed-new', FILES);
    await using renaming = await serve(
      relay((request, response) => {
        if (request.url?.startsWith('/renamed-old') !== true) return false;
        request.resume();
        response.writeHead(301, { location: request.url.replace('renamed-old.git', 'renamed-new') }).end('moved');
        return true;
      }),
    );
    const store = bench.open({ url: `${renaming.url}/renamed-old.git` });

    const base = await store.observe(signal());
    const outcome = await store.publish(base, await commitOn(store, tipOf(base), { 'b.yaml': '1\n' }), signal());

    expect(outcome.kind).toBe('published');
    expect(await repository.listFiles('main')).toEqual(['a.yaml', 'b.yaml']);
  });

  it('does not follow to another host, and sends nothing there', async () => {
    const seen: string[] = [];
    await using other = await serve((request, response) => (seen.push(request.url ?? ''), response.end()));
    await using redirecting = await serve((request, response) => {
      request.resume();
      response.writeHead(302, { location: `${other.url}/x.git${request.url?.replace(/^\/x\.git/, '') ?? ''}` }).end();
    });
    const store = bench.open({ url: `${redirecting.url}/x.git` });

    const error = await thrown(store.observe(signal()));

    expect(error).toMatchObject({
      reason: 'RepositoryNotFound',
      message: expect.stringContaining('moved to another host') as unknown,
    });
    expect(seen).toEqual([]);
  });

  it('gives up a redirect that goes in circles', async () => {
    await using circle = await serve(
      (request, response) => (request.resume(), response.writeHead(302, { location: request.url ?? '' }).end()),
    );

    expect(await thrown(bench.open({ url: `${circle.url}/x.git` }).observe(signal()))).toMatchObject({
      reason: 'RemoteUnavailable',
      message: expect.stringContaining('more than 5 redirects') as unknown,
    });
  });

  it.each([
    { why: 'a web page', status: 200, type: 'text/html; charset=utf-8', reason: 'RepositoryNotFound' },
    { why: 'a sign-in page of Azure DevOps', status: 203, type: 'text/html', reason: 'AuthenticationFailed' },
  ])('$why is no repository', async ({ status, type, reason }) => {
    await using web = await serve(
      (request, response) => (
        request.resume(),
        response.writeHead(status, { 'content-type': type }).end('<html>sign in</html>')
      ),
    );

    expect((await thrown(bench.open({ url: `${web.url}/x.git` }).observe(signal()))).reason).toBe(reason);
  });

  it('6.4: goes through a proxy, with its credential and never with its password in a message', async () => {
    await bench.host.createRepository('proxied', FILES);
    const asked: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, client: Socket) => {
      asked.push(`${request.url ?? ''} ${request.headers['proxy-authorization'] ?? 'nobody'}`);
      const target = connect(bench.host.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        target.pipe(client).pipe(target);
      });
      client.on('error', () => target.destroy());
      target.on('error', () => client.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const store = bench.open({
      url: 'http://git.corp.test/proxied.git',
      proxy: { url, username: 'p', password: 'proxy-secret' },
    });

    const base = await store.observe(signal());
    await store[Symbol.asyncDispose]();
    proxy.close();

    expect(base.kind).toBe('branch');
    expect(new Set(asked)).toEqual(
      new Set([`git.corp.test:80 Basic ${Buffer.from('p:proxy-secret').toString('base64')}`]),
    );
  });

  describe('TLS', () => {
    it('a certificate is trusted through the given CA alone', async () => {
      await bench.host.createRepository('tls', FILES);
      const [key, cert] = [join(bench.dir, 'key.pem'), join(bench.dir, 'cert.pem')];
      execFileSync(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:prime256v1',
          '-nodes',
          '-days',
          '2',
          '-subj',
          '/CN=127.0.0.1',
          '-addext',
          'subjectAltName=IP:127.0.0.1',
          '-keyout',
          key,
          '-out',
          cert,
        ],
        { stdio: 'pipe' },
      );
      const server = createHttps(
        { key: readFileSync(key), cert: readFileSync(cert) },
        relay(() => false),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/tls.git`;

      const untrusted = await thrown(bench.open({ url }).observe(signal()));
      const trusted = await bench.open({ url, ca: readFileSync(cert, 'utf8') }).observe(signal());
      server.closeAllConnections();
      server.close();

      expect(untrusted).toMatchObject({
        reason: 'TLSVerificationFailed',
        message: expect.stringContaining('put the CA that signed it in spec.tls.caRef') as unknown,
      });
      expect(trusted.kind).toBe('branch');
    });
  });
});
