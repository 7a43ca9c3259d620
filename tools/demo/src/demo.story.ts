import { access, constants, mkdir, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import {
  GitRepository,
  Kubectl,
  poll,
  resolveServerBinaries,
  runCommand,
  startProcess,
  tempDir,
} from '@gitops-reverser/e2e-harness';
import type { LoggedCommit, ServerProcess, TempDir } from '@gitops-reverser/e2e-harness';

const root = join(import.meta.dirname, '..', '..', '..');
const flags = [
  '--import',
  'tsx',
  '--conditions=@gitops-reverser/source',
  join(root, 'tools', 'demo', 'src', 'main.ts'),
];
const environment = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', CI: 'true' };

/** The commit of an edit must be in the repository this soon. */
const promisedMs = 7_000;

async function findKubectl(): Promise<string | undefined> {
  for (const dir of environment.PATH.split(delimiter)) {
    const file = join(dir, 'kubectl');
    const isThere = await access(file, constants.X_OK).then(
      () => dir !== '',
      () => false,
    );
    if (isThere) return file;
  }
  const found = await resolveServerBinaries({ needs: ['kubectl'], build: false });
  return found.status === 'available' ? found.paths.kubectl : undefined;
}

const demosInTemp = async (): Promise<readonly string[]> =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('gitops-reverser-demo-'));

it('npm run demo -- --once makes an edit, shows its commit, exits 0 and leaves nothing behind', async () => {
  const before = await demosInTemp();

  const { exit, stdout, stderr } = await runCommand(process.execPath, [...flags, '--once'], { env: environment });

  const said = stdout.toString();
  expect({ code: exit.code, stderr: stderr.replace(/^bundling.*\n/, '') }).toEqual({ code: 0, stderr: '' });
  expect(said.split('\n')[0]).toMatch(/^Ready: namespace demo is mirrored to .*repo\.git, branch main\.$/);
  expect(said).toContain('create configmap hello --from-literal=a=b');
  expect(said).toMatch(/^new {7}live-cluster\/demo\/configmaps\/hello\.yaml$/m);
  expect(said).toMatch(/^ {2}\+ {2}a: b$/m);
  expect(said).not.toContain('\u001b');
  expect(await demosInTemp()).toEqual(before);
});

describe('npm run demo -- --dir D, edited with the stock kubectl', () => {
  let dir: TempDir;
  let demo: ServerProcess;
  let kubectl: Kubectl;
  let binary: string;
  let repository: GitRepository;
  let tip: string | undefined;

  /** Makes one edit and gives its commits, once `isThere` holds of the file at the tip. */
  async function committed(
    args: readonly string[],
    path: string,
    isThere: (text: string | undefined) => boolean,
    env: Readonly<Record<string, string>> = {},
  ): Promise<readonly LoggedCommit[]> {
    const { exit, stderr } = await runCommand(
      binary,
      ['--kubeconfig', join(dir.path, 'kubeconfig'), '--cache-dir', join(dir.path, 'cache'), '-n', 'demo', ...args],
      { env: { ...environment, ...env } },
    );
    expect({ args, code: exit.code, stderr }).toEqual({ args, code: 0, stderr: expect.any(String) });
    const began = performance.now();
    await poll(async () => isThere(await repository.showFile('main', path)), {
      deadlineMs: promisedMs,
      what: `${path} after kubectl ${args.join(' ')}`,
    }).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}\n--- demo\n${demo.tail(60)}`);
    });
    expect(performance.now() - began).toBeLessThan(promisedMs);
    const commits = await repository.log('main', tip === undefined ? {} : { since: tip });
    tip = commits[0]?.sha;
    return commits;
  }
  const touched = (commits: readonly LoggedCommit[]): readonly string[] =>
    commits.flatMap(({ files }) =>
      files.map(({ change, path }) => `${change} ${path.replace('live-cluster/demo/', '')}`),
    );

  beforeAll(async () => {
    const found = await findKubectl();
    if (found === undefined) throw new Error('there is no kubectl: put one on the PATH, or run `npm run e2e` with Go');
    binary = found;
    dir = await tempDir('kubectl-story');
    await mkdir(join(dir.path, 'cache'));
    demo = await startProcess({
      name: 'demo',
      command: process.execPath,
      args: [...flags, '--dir', dir.path],
      env: environment,
    });
    await demo.waitForLine(/^Ready: /, { deadlineMs: 60_000 });
    kubectl = new Kubectl({
      binary,
      kubeconfigFile: join(dir.path, 'kubeconfig'),
      cacheDir: join(dir.path, 'cache'),
    });
    repository = new GitRepository('repo', join(dir.path, 'repo.git'));
    await poll(
      async () => (await repository.showFile('main', 'live-cluster/demo/apps/deployments/press.yaml')) !== undefined,
      {
        what: 'the snapshot',
      },
    );
    await demo.waitForLine(/demo\.example\.com\/orchards\/north\.yaml/);
    tip = await repository.head('main');
  });
  afterAll(async () => {
    await demo?.stop();
    await dir?.[Symbol.asyncDispose]();
  });

  it('create, of a built-in kind, which kubectl sends as protobuf', async () => {
    const commits = await committed(
      ['create', 'configmap', 'hello', '--from-literal=a=b'],
      'live-cluster/demo/configmaps/hello.yaml',
      (text) => text?.includes('a: b') ?? false,
    );

    expect(touched(commits)).toEqual(['A configmaps/hello.yaml']);
    expect(commits[0]?.author.email).toMatch(/@/);
  });

  it('patch', async () => {
    const commits = await committed(
      ['patch', 'configmap', 'hello', '-p', '{"data":{"a":"c"}}'],
      'live-cluster/demo/configmaps/hello.yaml',
      (text) => text?.includes('a: c') ?? false,
    );

    expect(touched(commits)).toEqual(['M configmaps/hello.yaml']);
  });

  it('edit', async () => {
    const commits = await committed(
      ['edit', 'configmap', 'hello'],
      'live-cluster/demo/configmaps/hello.yaml',
      (text) => text?.includes('a: edited') ?? false,
      { KUBE_EDITOR: 'sed -i s/a:\\ c/a:\\ edited/' },
    );

    expect(touched(commits)).toEqual(['M configmaps/hello.yaml']);
  });

  it('label', async () => {
    const commits = await committed(
      ['label', 'configmap', 'hello', 'tier=front'],
      'live-cluster/demo/configmaps/hello.yaml',
      (text) => text?.includes('tier: front') ?? false,
    );

    expect(touched(commits)).toEqual(['M configmaps/hello.yaml']);
  });

  it('scale, of a built-in kind', async () => {
    const commits = await committed(
      ['scale', 'deployment', 'press', '--replicas=3'],
      'live-cluster/demo/apps/deployments/press.yaml',
      (text) => text?.includes('replicas: 3') ?? false,
    );

    expect(touched(commits)).toEqual(['M apps/deployments/press.yaml']);
  });

  it('scale, of a custom resource', async () => {
    const commits = await committed(
      ['scale', 'orchard', 'north', '--replicas=13'],
      'live-cluster/demo/demo.example.com/orchards/north.yaml',
      (text) => text?.includes('trees: 13') ?? false,
    );

    expect(touched(commits)).toEqual(['M demo.example.com/orchards/north.yaml']);
  });

  it('create, of a cron job', async () => {
    const commits = await committed(
      ['create', 'cronjob', 'nightly', '--image=example.com/press:1.0', '--schedule=0 3 * * *'],
      'live-cluster/demo/batch/cronjobs/nightly.yaml',
      (text) => text?.includes('schedule: 0 3 * * *') ?? text?.includes('schedule: "0 3 * * *"') ?? false,
    );

    expect(touched(commits)).toEqual(['A batch/cronjobs/nightly.yaml']);
  });

  it('get -w shows an edit while it becomes a commit', async () => {
    await using watch = await startProcess({
      name: 'kubectl get -w',
      command: binary,
      args: ['--kubeconfig', join(dir.path, 'kubeconfig'), '-n', 'demo', 'get', 'orchards', '-w'],
      env: { ...environment, HOME: join(dir.path, 'cache') },
    });
    await watch.waitForLine(/^north +Boskoop +13/);

    await committed(
      ['patch', 'orchard', 'north', '--type=merge', '-p', '{"spec":{"trees":14}}'],
      'live-cluster/demo/demo.example.com/orchards/north.yaml',
      (text) => text?.includes('trees: 14') ?? false,
    );

    await watch.waitForLine(/^north +Boskoop +14/);
  });

  it('delete', async () => {
    const commits = await committed(
      ['delete', 'configmap', 'hello'],
      'live-cluster/demo/configmaps/hello.yaml',
      (text) => text === undefined,
    );

    expect(touched(commits)).toEqual(['D configmaps/hello.yaml']);
  });

  it('the objects say so themselves, and Git is whole', async () => {
    await kubectl.run([
      'wait',
      '-n',
      'demo',
      '--for=condition=Ready',
      'gittarget/live',
      'watchrule/basics',
      '--timeout=5s',
    ]);

    await repository.fsck();
  });

  it('ctrl-C ends it within seconds, with no process left, and what was asked for is kept', async () => {
    const operator = (await runCommand('pgrep', ['-f', `operator.mjs run --kubeconfig ${dir.path}`])).stdout.toString();
    expect(operator.trim()).toMatch(/^\d+$/);

    demo.signal('SIGINT');
    const exit = await demo.exited;

    expect(exit).toEqual({ code: 0, signal: null });
    expect((await runCommand('pgrep', ['-f', `operator.mjs run --kubeconfig ${dir.path}`])).stdout.toString()).toBe('');
    expect((await readdir(dir.path)).sort()).toEqual(
      expect.arrayContaining(['kubeconfig', 'operator', 'quick-start.yaml', 'repo.git']),
    );
  });
});
