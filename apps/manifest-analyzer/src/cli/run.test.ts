import { PassThrough } from 'node:stream';
import { startDevcluster } from '@gitops-reverser/devcluster';
import { configMap, temporaryFolder } from '../temporary-folder.fixture.js';
import { runCommand } from './run.js';
import { printable } from './text.js';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(...args: readonly string[]): Promise<Outcome> {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    streams[name].on('data', (chunk: Buffer) => (texts[name] += chunk.toString('utf8')));
  const code = await runCommand(args, streams, new AbortController().signal);
  return { code, ...texts };
}

describe('exit codes', () => {
  const files = { 'good/a.yaml': configMap('a'), 'bad/a.yaml': configMap('a'), 'bad/b.yaml': configMap('a') };

  it.each([
    { why: 'analyze reports', args: ['bad'], code: 0 },
    { why: 'analyze refuses what has an issue', args: ['--policy=refuse', 'bad'], code: 1 },
    { why: 'analyze passes what has none', args: ['--policy', 'refuse', 'good'], code: 0 },
    { why: 'scan-folder reports', args: ['--mode', 'scan-folder', 'bad'], code: 0 },
    {
      why: 'scan-folder refuses what is not accepted',
      args: ['--mode', 'scan-folder', '--policy', 'refuse', 'bad'],
      code: 1,
    },
    {
      why: 'scan-folder passes what is accepted',
      args: ['--mode', 'scan-folder', '--policy', 'refuse', 'good'],
      code: 0,
    },
    { why: 'scan-repo only reports', args: ['--mode', 'scan-repo', '--policy', 'refuse', '.'], code: 0 },
    { why: 'no directory there', args: ['nowhere'], code: 2 },
    { why: 'a file is no directory', args: ['good/a.yaml'], code: 2 },
  ])('$code: $why', async ({ args, code }) => {
    using folder = temporaryFolder(files);

    const outcome = await run(...args.slice(0, -1), `${folder.root}/${args.at(-1) ?? ''}`);

    expect({ code: outcome.code, isSilent: outcome.stderr === '' }).toEqual({ code, isSilent: code !== 2 });
  });

  it.each([
    { args: ['--mod', 'x', '.'], says: 'unknown flag --mod; did you mean --mode?' },
    { args: ['--mode', 'scan', '.'], says: '--mode scan is retired; use --mode scan-folder' },
    { args: ['--mode', 'repo-walker', '.'], says: '--mode repo-walker is retired; use --mode scan-repo' },
    {
      args: ['--mode', 'other', '.'],
      says: '--mode: expected analyze, scan-folder, scan-repo, discovery, found "other"',
    },
    { args: ['--format', 'yaml', '.'], says: '--format yaml is for the modes scan-folder and scan-repo' },
    { args: ['--policy', 'x', '.'], says: '--policy: expected report, refuse, found "x"' },
    { args: ['--kubeconfig', 'x', '.'], says: '--kubeconfig and --context are for the mode discovery' },
    { args: ['--mode', 'discovery', '.'], says: 'the mode discovery takes no directory' },
    { args: ['--mode'], says: '--mode needs a value' },
    { args: ['--format=json', '--format=json', '.'], says: '--format is given twice' },
    { args: ['a', 'b'], says: 'expected one directory, found more' },
    { args: [], says: 'name the directory to look at' },
  ])('2: $says', async ({ args, says }) => {
    const { code, stdout, stderr } = await run(...args);

    expect({ code, stdout, first: stderr.split('\n')[0] }).toEqual({
      code: 2,
      stdout: '',
      first: `manifest-analyzer: ${says}`,
    });
  });
});

describe('11.4: the types of a cluster', () => {
  it('are printed in text and JSON, the same each time; whatever the policy, it is done', async () => {
    await using cluster = await startDevcluster();
    using folder = temporaryFolder({ kubeconfig: cluster.kubeconfig() });
    const ask = (...args: readonly string[]) =>
      run('--mode', 'discovery', '--kubeconfig', `${folder.root}/kubeconfig`, ...args);

    const [text, json, again] = [
      await ask(),
      await ask('--format', 'json'),
      await ask('--format=json', '--policy=refuse'),
    ];

    expect(text).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/ types can be mirrored\n$/) as string,
    });
    expect(json).toMatchObject({ code: 0, stderr: '' });
    expect(again).toEqual(json);
    const { types } = JSON.parse(json.stdout) as {
      readonly types: readonly { readonly type: { readonly kind: string } }[];
    };
    expect(types.map(({ type }) => type.kind)).toContain('ConfigMap');
  }, 60_000);

  it('cannot be printed without a kubeconfig', async () => {
    const { code, stdout, stderr } = await run('--mode', 'discovery', '--kubeconfig', '/nowhere/kubeconfig');

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^manifest-analyzer: .*\/nowhere\/kubeconfig/);
  });
});

describe('what is printed', () => {
  it('versions of the program and of its reports', async () => {
    const { code, stdout } = await run('--version');

    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^manifest-analyzer \S+\nreport apiVersion: manifestanalyzer\.configbutler\.ai\/v1alpha1\n$/,
      ) as string,
    });
  });

  it('a report as text, JSON and YAML', async () => {
    using folder = temporaryFolder({ 'app/a.yaml': configMap('a'), 'app/notes.txt': '' });
    const scan = (format: string) => run('--mode', 'scan-repo', '--format', format, folder.root);

    const [text, json, yaml] = [await scan('text'), await scan('json'), await scan('yaml')];

    expect(text.stdout).toContain(
      'refused   app  plain, namespace shop, 1 object, 1 editable\n    foreign-file: notes.txt',
    );
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'RepoReport', status: { summary: { refused: 1 } } });
    expect(yaml.stdout).toMatch(/^apiVersion: manifestanalyzer\.configbutler\.ai\/v1alpha1\nkind: RepoReport\n/);
  });

  it('nothing of an object but its names', async () => {
    using folder = temporaryFolder({
      's.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n',
      't.yaml': 'password: hunter2\n: hunter2: [',
    });

    for (const mode of ['analyze', 'scan-folder', 'scan-repo'])
      for (const format of ['text', 'json'])
        expect((await run('--mode', mode, '--format', format, folder.root)).stdout).not.toContain('hunter2');
  });

  it('no character of a name that steers a terminal', async () => {
    using folder = temporaryFolder({ 'a\u001b[31m.txt': '' });

    expect((await run(folder.root)).stdout).toContain('a\\u001b[31m.txt');
    expect(printable('ä\u202e\n')).toBe('ä\\u202e\\u000a');
  });
});
