import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/**
 * The analyzer as another program has it: its packages and nothing else, outside the workspace. Nothing here uses the network or
 * reads builds of the checkout.
 */
const workspace = realpathSync(join(import.meta.dirname, '../../..'));
const own = '@gitops-reverser/manifest-analyzer';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Every package an installation brings, by where it lies: what is optional nobody asked for. */
function installed(): ReadonlyMap<string, string> {
  const folders = new Map([[own, join(import.meta.dirname, '..')]]);
  // A map goes on with what is added while it is walked.
  for (const folder of folders.values()) {
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf(folder);
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
    for (const name of [...Object.keys(dependencies), ...peers]) {
      const nested = join(folder, 'node_modules', name);
      if (!folders.has(name))
        folders.set(name, realpathSync(existsSync(nested) ? nested : join(workspace, 'node_modules', name)));
    }
  }
  return folders;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(folder: string, command: string, args: readonly string[]): Promise<Ran> {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  try {
    return { code: 0, ...(await promisify(execFile)(command, [...args], { cwd: folder, env })) };
  } catch (error) {
    const { code = 1, stdout = '', stderr = String(error) } = error as Partial<Ran>;
    return { code, stdout, stderr };
  }
}

describe('the analyzer, installed', () => {
  const folders = installed();
  let program: string;

  beforeAll(async () => {
    program = mkdtempSync(join(realpathSync(tmpdir()), 'linking-program-'));
    for (const [name, folder] of folders) {
      const target = join(program, 'node_modules', name);
      mkdirSync(dirname(target), { recursive: true });
      if (!folder.startsWith(workspace) || folder.includes('node_modules')) {
        symlinkSync(folder, target, 'dir');
        continue;
      }
      mkdirSync(target);
      cpSync(join(folder, 'package.json'), join(target, 'package.json'));
      const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(file))
        .map((file) => join(folder, 'src', file));
      const built = await run(workspace, join(workspace, 'node_modules/esbuild/bin/esbuild'), [
        ...sources,
        `--outbase=${join(folder, 'src')}`,
        `--outdir=${join(target, 'dist')}`,
        '--format=esm',
        '--log-level=warning',
      ]);
      expect(built).toMatchObject({ code: 0, stderr: '' });
    }
  }, 120_000);
  afterAll(() => rmSync(program, { recursive: true, force: true }));

  it('11.1: brings a YAML library and no cluster client', () => {
    const foreign = [...folders.keys()].filter((name) => !name.startsWith('@gitops-reverser/'));

    expect(foreign).toEqual(['yaml']);
    expect([...folders.keys()].filter((name) => /kube|git$|undici/.test(name))).toEqual([]);
  });

  it('11.1: is linked by a program that has its files in memory', async () => {
    writeFileSync(
      join(program, 'use.mjs'),
      `
      import { key, scanFolder, scanRepo, toJSON, toYAML, version } from '${own}';
      const files = { 'app/a.yaml': 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a, namespace: shop}\\n', 'app/b.txt': '' };
      const source = {
        async *list() { for (const path of Object.keys(files)) yield { path, mode: 'file' }; },
        read: async (path) => Buffer.from(files[path]),
      };
      const [folder, repository] = [await scanFolder(source), await scanRepo(source)];
      console.log(JSON.stringify({
        accepted: folder.status.accepted,
        issues: folder.status.issues.map(({ kind, path }) => kind + ' ' + path),
        candidates: repository.status.candidates.map(({ path, layout }) => path + ' ' + layout),
        isSame: toJSON(folder) === JSON.stringify(folder, null, 2) + '\\n' && toYAML(repository).startsWith('apiVersion: '),
        key: key({ group: 'apps', version: 'v1', resource: 'deployments', namespace: 'orchard', name: 'api' }),
        version: version(),
      }));
    `,
    );

    const { code, stdout, stderr } = await run(program, process.execPath, ['use.mjs']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      accepted: false,
      issues: ['foreign-file app/b.txt'],
      candidates: ['app plain'],
      isSame: true,
      key: 'apps/v1/deployments/orchard/api',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
    });
  }, 60_000);

  it('11.4: is a command; the one mode that needs a cluster says what it lacks', async () => {
    const command = join(program, 'node_modules', own, 'dist/cli/main.js');
    mkdirSync(join(program, 'folder'), { recursive: true });
    writeFileSync(join(program, 'folder/notes.txt'), '');

    const scan = await run(program, process.execPath, [
      command,
      '--mode',
      'scan-folder',
      '--policy',
      'refuse',
      'folder',
    ]);
    const again = await run(program, process.execPath, [
      command,
      '--mode',
      'scan-folder',
      '--policy',
      'refuse',
      'folder',
    ]);
    const discovery = await run(program, process.execPath, [command, '--mode', 'discovery']);

    expect(scan).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^folder: refused, for 1 reason\n/) as string,
      stderr: '',
    });
    expect(again).toEqual(scan);
    expect({ ...discovery, stderr: '' }).toEqual({ code: 2, stdout: '', stderr: '' });
    expect(discovery.stderr).toMatch(
      /needs the packages @gitops-reverser\/toolkit-kube and @gitops-reverser\/plugin-kubernetes/,
    );
  }, 60_000);
});
