import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';

import { cleanGitEnv, git, tryGit } from './git-command.js';
import { startGitHost } from './git-host.js';
import type { GitHost } from './git-host.js';
import { startProcess, tempDir } from './processes.js';
import type { TempDir } from './processes.js';
import { poll } from './waiting.js';

let dir: TempDir;
let host: GitHost;
beforeEach(async () => {
  dir = await tempDir('git-host');
  host = await startGitHost({ dir: `${dir.path}/host` });
});
afterEach(async () => {
  await host.stop();
  await dir[Symbol.asyncDispose]();
});

const clone = (url: string, name = 'clone'): Promise<string> => git(['clone', '--quiet', url, `${dir.path}/${name}`]);
const lsRemote = (url: string) => tryGit(['ls-remote', url]);

/** A push over HTTP by the stock CLI. */
async function pushTo(
  name: string,
  file: string,
  options: { readonly credentials?: { user: string; password: string } } = {},
) {
  const via = host.urlOf(name, options.credentials);
  return await host.repository(name).commitFiles('main', { [file]: `${file}\n` }, { via });
}

async function post(
  path: string,
  body: Buffer,
  headers: Record<string, string>,
): Promise<{ status: number; body: string }> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest(`${host.url}${path}`, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    request.on('error', reject).end(body);
  });
}

const pkt = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

describe('serving', () => {
  it('clones and pushes with the stock git CLI, branch main by default', async () => {
    const app = await host.createRepository('team/app', { files: { 'a.yaml': 'a: 1\n' } });

    await clone(host.urlOf('team/app'));
    const commit = await pushTo('team/app', 'b.yaml');

    expect(await app.branches()).toEqual({ main: commit });
    expect(await git(['-C', `${dir.path}/clone`, 'show', 'HEAD:a.yaml'])).toBe('a: 1\n');
    await app.fsck();
  });

  it('takes a push of many megabytes, sent chunked', async () => {
    const app = await host.createRepository('app');

    await app.commitFiles('main', { 'noise.bin': randomBytes(3_000_000) }, { via: host.urlOf('app') });

    const [push] = host.requests({ step: 'push' }).slice(-1);
    expect(push).toMatchObject({ status: 200, isChunked: true });
    expect(push?.requestBytes).toBeGreaterThan(1_000_000);
    await app.fsck();
  });

  it.each([
    ['with Content-Length', {}, (body: Buffer) => body],
    ['gzipped', { 'content-encoding': 'gzip' }, (body: Buffer) => gzipSync(body)],
    ['chunked', { 'transfer-encoding': 'chunked' }, (body: Buffer) => body],
  ])('takes a request body %s', async (_, headers, encode) => {
    await host.createRepository('app', { files: { a: 'a' } });
    const tip = (await host.repository('app').head('main')) ?? '';
    const body = encode(Buffer.from(`${pkt(`want ${tip} ofs-delta\n`)}0000${pkt('done\n')}`));

    const answer = await post('/app.git/git-upload-pack', body, {
      'content-type': 'application/x-git-upload-pack-request',
      ...headers,
    });

    expect(answer.status).toBe(200);
    expect(answer.body.slice(0, 12)).toBe('0008NAK\nPACK');
  });

  it('answers 404 for a repository it does not have, and forgets a removed one', async () => {
    await host.createRepository('app', { files: { a: 'a' } });
    await host.removeRepository('app');

    const { exit, stderr } = await lsRemote(host.urlOf('app'));

    expect(exit.code).not.toBe(0);
    expect(stderr).toContain('not found');
  });

  it('runs a pre-receive hook and gives its words to the client', async () => {
    const app = await host.createRepository('app', { files: { a: 'a' } });
    await app.installHook('pre-receive', 'echo "main is protected" >&2; exit 1');

    await expect(pushTo('app', 'b')).rejects.toThrow(/remote: main is protected[^]*pre-receive hook declined/);
  });

  it('ends gits at work when it stops', async () => {
    const app = await host.createRepository('app', { files: { a: 'a' } });
    await app.installHook('pre-receive', `touch ${dir.path}/started; sleep 300`);
    const push = pushTo('app', 'b');
    push.catch(() => undefined);
    await poll(() => existsSync(`${dir.path}/started`));

    await host.stop();

    await expect(push).rejects.toThrow();
  });
});

describe('access', () => {
  const accounts = [
    { user: 'writer', password: 'w', may: 'write' },
    { user: 'reader', password: 'r', may: 'read' },
    { bearer: 'tok', password: 'tok', may: 'write' },
  ] as const;

  it('asks for credentials where nobody may read anonymously', async () => {
    await host.createRepository('app', { access: { anonymous: 'none', accounts } });

    const anonymous = await lsRemote(host.urlOf('app'));
    const wrong = await lsRemote(host.urlOf('app', { user: 'writer', password: 'x' }));
    const right = await lsRemote(host.urlOf('app', { user: 'reader', password: 'r' }));

    expect([anonymous.exit.code, wrong.exit.code, right.exit.code]).toEqual([128, 128, 0]);
    expect(wrong.stderr).toContain('Authentication failed');
  });

  it('takes a bearer token, and the same token as basic password of any user', async () => {
    await host.createRepository('app', { access: { anonymous: 'none', accounts } });

    const bearer = await tryGit(['-c', 'http.extraHeader=Authorization: Bearer tok', 'ls-remote', host.urlOf('app')]);
    const basic = await lsRemote(host.urlOf('app', { user: 'anyone', password: 'tok' }));

    expect([bearer.exit.code, basic.exit.code]).toEqual([0, 0]);
  });

  it('refuses the push of a reader with 403 and takes that of a writer', async () => {
    await host.createRepository('app', { access: { anonymous: 'read', accounts } });

    await expect(pushTo('app', 'a', { credentials: { user: 'reader', password: 'r' } })).rejects.toThrow('403');
    const commit = await pushTo('app', 'a', { credentials: { user: 'writer', password: 'w' } });

    expect(await host.repository('app').head('main')).toBe(commit);
  });

  it('changes while it runs', async () => {
    await host.createRepository('app');
    host.setAccess('app', { anonymous: 'none', accounts });

    const { exit } = await lsRemote(host.urlOf('app'));

    expect(exit.code).toBe(128);
  });
});

describe('request log', () => {
  it('has one entry a request, without credentials', async () => {
    await host.createRepository('app', {
      access: { anonymous: 'none', accounts: [{ user: 'u', password: 'canary', may: 'write' }] },
    });
    await pushTo('app', 'a', { credentials: { user: 'u', password: 'canary' } });

    const requests = await poll(() => (host.requests().every(({ endedAt }) => endedAt) ? host.requests() : undefined));

    expect(host.ledger('app')).toEqual(['push-advertisement 401', 'push-advertisement 200', 'push 200']);
    expect(requests.at(-1)).toMatchObject({
      method: 'POST',
      path: '/app.git/git-receive-pack',
      authorization: 'basic',
      contentType: 'application/x-git-receive-pack-request',
    });
    expect(requests.at(-1)?.requestBytes).toBeGreaterThan(100);
    expect(requests.at(-1)?.responseBytes).toBeGreaterThan(10);
    expect(JSON.stringify(requests)).not.toContain('canary');
  });
});

// curl sends a request once more, on a fresh connection, when a reused one is cut: hence `times: 2`.
describe('bad days', () => {
  let before: string | undefined;
  beforeEach(async () => {
    const app = await host.createRepository('app', { files: { a: 'a' } });
    before = await app.head('main');
  });
  const head = () => host.repository('app').head('main');

  it('cuts a connection before the request was handled', async () => {
    const fault = await host.inject({ kind: 'cut', at: 'request' }, { on: 'push', times: 2 });

    await expect(pushTo('app', 'b')).rejects.toThrow();

    expect([fault.hits, await head()]).toEqual([2, before]);
    expect(host.ledger('app').at(-1)).toBe('push cut');
  });

  it('cuts after the body of a push, and the ref never moves', async () => {
    await host.inject({ kind: 'cut', at: 'body', server: 'stops' }, { on: 'push', times: 2 });

    await expect(pushTo('app', 'b')).rejects.toThrow();

    expect(await head()).toBe(before);
  });

  it('cuts after the body of a push, and the ref moves later', async () => {
    await host.inject({ kind: 'cut', at: 'body', server: 'goes-on', goOnAfterMs: 300 }, { on: 'push', times: 2 });

    await expect(pushTo('app', 'b')).rejects.toThrow();
    const rightAfter = await head();

    expect(rightAfter).toBe(before);
    await poll(async () => (await head()) !== before, { what: 'the push to land' });
  });

  it.each([{ at: 'answer' }, { at: 'answer-headers' }, { at: 'answer-body', afterBytes: 4 }] as const)(
    'cuts at %j: the ref has moved, the client does not know',
    async (where) => {
      await host.inject({ kind: 'cut', ...where }, { on: 'push' });

      await expect(pushTo('app', 'b')).rejects.toThrow();

      expect(await head()).not.toBe(before);
    },
  );

  it('holds a push until it is released', async () => {
    const fault = await host.inject({ kind: 'hold', at: 'request' }, { on: 'push' });
    const push = pushTo('app', 'b');
    await fault.reached;
    const while_ = await head();

    fault.release();

    expect(while_).toBe(before);
    expect(await push).toBe(await head());
  });

  it('holds an answer: the ref has moved, a killed client does not know', async () => {
    const fault = await host.inject({ kind: 'hold', at: 'answer' }, { on: 'push' });
    await clone(host.urlOf('app'));
    await git([
      '-C',
      `${dir.path}/clone`,
      '-c',
      'user.name=k',
      '-c',
      'user.email=k@example.com',
      'commit',
      '--quiet',
      '--allow-empty',
      '-m',
      'k',
    ]);
    const client = await startProcess({
      command: 'git',
      args: ['-C', `${dir.path}/clone`, 'push', '--quiet'],
      env: cleanGitEnv(),
    });
    await fault.reached;

    await client.kill();

    expect(await head()).not.toBe(before);
  });

  it('answers 503 with Retry-After once, then works', async () => {
    await host.inject(
      { kind: 'answer', status: 503, headers: { 'retry-after': '7' }, body: 'later' },
      { on: 'push-advertisement' },
    );

    await expect(pushTo('app', 'b')).rejects.toThrow('503');
    const commit = await pushTo('app', 'b');

    expect(await head()).toBe(commit);
  });

  it('passes the requests that are to be skipped', async () => {
    const fault = await host.inject({ kind: 'answer', status: 500 }, { on: 'fetch-advertisement', skip: 1, times: 2 });

    const codes = [];
    for (let i = 0; i < 4; i += 1) codes.push((await lsRemote(host.urlOf('app'))).exit.code);

    expect(codes).toEqual([0, 128, 128, 0]);
    expect(fault.hits).toBe(2);
  });

  it.each(['0', '2'])('lags behind accepted pushes on reads, protocol %s', async (version) => {
    const ask = async () =>
      (await git(['-c', `protocol.version=${version}`, 'ls-remote', host.urlOf('app'), 'main'])).slice(0, 40);
    const fault = await host.inject({ kind: 'lag' }, { repository: 'app' });
    const commit = await host.repository('app').commitFiles('main', { b: 'b' });

    const lagging = await ask();
    fault.remove();
    const fresh = await ask();

    expect([lagging, fresh]).toEqual([before, commit]);
  });

  it('refuses an upload-pack request without multi_ack, as Azure DevOps does', async () => {
    await host.inject({ kind: 'require-multi-ack' });
    const bare = Buffer.from(`${pkt(`want ${before} ofs-delta agent=x\n`)}0000${pkt('done\n')}`);
    const headers = { 'content-type': 'application/x-git-upload-pack-request' };

    const refused = await post('/app.git/git-upload-pack', bare, headers);
    const gzipped = await post('/app.git/git-upload-pack', gzipSync(bare), { ...headers, 'content-encoding': 'gzip' });
    await git(['-c', 'protocol.version=0', 'clone', '--quiet', host.urlOf('app'), `${dir.path}/v0`]);

    expect([refused.status, gzipped.status]).toEqual([400, 400]);
    expect(refused.body).toContain('TF401041');
  });

  it('refuses the agent capability, as CodeCommit does', async () => {
    await host.inject({ kind: 'refuse-agent' }, { on: 'push' });

    await expect(pushTo('app', 'b')).rejects.toThrow('400');

    expect(await head()).toBe(before);
  });

  it('refuses a body without Content-Length', async () => {
    await host.inject({ kind: 'refuse-chunked' });

    const answer = await post('/app.git/git-upload-pack', Buffer.from('0000'), {
      'content-type': 'application/x-git-upload-pack-request',
      'transfer-encoding': 'chunked',
    });

    expect(answer.status).toBe(411);
  });
});
