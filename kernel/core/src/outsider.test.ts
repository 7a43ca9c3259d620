import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/**
 * A plugin of somebody else, as a stranger builds and installs it: from packed tarballs, outside the workspace. Whatever moves
 * inside the kernel must leave this alone. Nothing here uses the network, and nothing reads builds of the checkout.
 */
const WORKSPACE = realpathSync(join(import.meta.dirname, '../../..'));
const PLUGIN = '@stranger/reverser-plugin-strip-notes';
const LIMIT_MS = 240_000;

let root: string;
let tarballs: { readonly api: string; readonly testing: string; readonly plugin: string };

interface Ran {
  readonly code: number;
  readonly output: string;
}
async function run(folder: string, command: string, args: readonly string[]): Promise<Ran> {
  const { NODE_OPTIONS: _options, TEST_TALLY_DIR: _tally, ...inherited } = process.env;
  const env = {
    ...inherited,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_cache: join(root, 'npm-cache'),
  };
  try {
    const { stdout, stderr } = await promisify(execFile)(command, [...args], {
      cwd: folder,
      env,
      maxBuffer: 16 * 1024 * 1024,
    });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as {
      readonly code?: unknown;
      readonly stdout?: string;
      readonly stderr?: string;
    };
    return {
      code: typeof code === 'number' ? code : 1,
      output: `${stdout ?? ''}${stderr ?? ''}${stdout === undefined ? String(error) : ''}`,
    };
  }
}
async function succeed(folder: string, command: string, args: readonly string[]): Promise<string> {
  const { code, output } = await run(folder, command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} in ${folder} ended with ${code}:\n${output}`);
  return output;
}
const tool = (path: string): string => join(WORKSPACE, 'node_modules', path);

function link(folder: string, name: string, to: string): void {
  const path = join(folder, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(to, path, 'dir');
}
async function install(folder: string, name: string, tarball: string): Promise<void> {
  const path = join(folder, 'node_modules', name);
  mkdirSync(path, { recursive: true });
  await succeed(path, 'tar', ['-xzf', tarball, '--strip-components=1']);
}
async function pack(folder: string): Promise<string> {
  const destination = join(root, 'tarballs');
  mkdirSync(destination, { recursive: true });
  const before = new Set(readdirSync(destination));
  await succeed(folder, 'npm', ['pack', '--silent', '--pack-destination', destination]);
  const made = readdirSync(destination).find((file) => !before.has(file));
  return join(destination, made ?? 'nothing');
}

/** The kernel built from its sources, away from the checkout's own builds, which others may be writing right now. */
async function buildKernel(): Promise<string> {
  const copy = join(root, 'checkout');
  mkdirSync(copy);
  cpSync(join(WORKSPACE, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'));
  for (const name of ['api', 'testing', 'core']) {
    for (const part of ['package.json', 'tsconfig.lib.json', 'README.md', 'src']) {
      cpSync(join(WORKSPACE, 'kernel', name, part), join(copy, 'kernel', name, part), {
        recursive: true,
        filter: (path) => !path.endsWith('.test.ts'),
      });
    }
    link(copy, `@gitops-reverser/kernel-${name}`, join(copy, 'kernel', name));
  }
  // The compiler asks for tslib where it might need it; nothing that is packed may.
  for (const name of ['@types/node', '@types/jest', 'awilix', 'tslib']) link(copy, name, tool(name));
  await succeed(copy, process.execPath, [tool('typescript/bin/tsc'), '--build', 'kernel/testing/tsconfig.lib.json']);
  // Nobody compiles against the core: its types are left out.
  const sources = readdirSync(join(copy, 'kernel/core/src')).map((file) => join('kernel/core/src', file));
  await succeed(copy, tool('esbuild/bin/esbuild'), [
    ...sources,
    '--outdir=kernel/core/dist',
    '--format=esm',
    '--log-level=warning',
  ]);
  return copy;
}

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'gitops-reverser-outsider-')));
  const checkout = await buildKernel();
  const [api, testing] = [await pack(join(checkout, 'kernel/api')), await pack(join(checkout, 'kernel/testing'))];

  const stranger = join(root, 'stranger');
  cpSync(join(WORKSPACE, 'e2e/outsider'), stranger, {
    recursive: true,
    filter: (path) => !/[/\\](node_modules|dist)$/.test(path),
  });
  await install(stranger, '@gitops-reverser/kernel-api', api);
  await install(stranger, '@gitops-reverser/kernel-testing', testing);
  for (const name of ['@types/node', '@types/jest']) link(stranger, name, tool(name));
  await succeed(stranger, process.execPath, [tool('typescript/bin/tsc'), '-p', 'tsconfig.json']);
  tarballs = { api, testing, plugin: await pack(stranger) };
}, LIMIT_MS);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A folder with a configuration in it, as an operator image is extended, and a program that loads the plugin from there. */
async function operatorFolder(name: string, installed: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  for (const [each, tarball] of Object.entries(installed)) await install(folder, each, tarball);
  writeFileSync(
    join(folder, 'load.mjs'),
    `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { openKernel } from ${JSON.stringify(join(root, 'checkout/kernel/core/dist/index.js'))};

    const clock = { now: () => new Date(), sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined) };
    const logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger };
    const metrics = { counter: () => ({ add() {} }), histogram: () => ({ observe() {} }), gauge: () => ({ [Symbol.dispose]() {} }), forget() {} };
    try {
      const kernel = await openKernel({ entries: [{ use: ${JSON.stringify(PLUGIN)} }], from: import.meta.dirname, clock, logger, metrics });
      const scope = await kernel.scopes.open({ scope: 'cluster', id: 'prod', given: [], leases: [] });
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app', namespace: 'demo', annotations: { 'example.test/note': 'ask Kim', kept: 'yes' } }, data: { a: 'b' } };
      const type = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };
      const sanitized = scope.instances('sanitizer').map(({ plugin, instance }) => [plugin, instance.sanitize(object, type, { include: [], exclude: [] })]);
      await kernel.close(1_000);
      console.log(JSON.stringify({ versions: kernel.registry.plugins.map(({ id, version }) => [id, version]), sanitized }));
    } catch (error) {
      console.log(JSON.stringify({ reason: error.reason, problems: error.problems?.map(({ reason, message }) => [reason, message]) ?? String(error.stack) }));
    }
    `,
  );
  return folder;
}

describe('a plugin of somebody else, from packed tarballs', () => {
  it(
    'passes its contract suite with the packed test kit',
    async () => {
      const stranger = join(root, 'stranger');
      const report = join(root, 'report.json');

      const { code, output } = await run(stranger, process.execPath, [
        '--experimental-vm-modules',
        tool('jest/bin/jest.js'),
        '--ci',
        '--runInBand',
        '--watchman=false',
        '--json',
        `--outputFile=${report}`,
      ]);

      const { numPassedTests, numFailedTests } = JSON.parse(
        existsSync(report) ? readFileSync(report, 'utf8') : '{}',
      ) as { readonly numPassedTests?: number; readonly numFailedTests?: number };
      expect({ code, numFailedTests, output: code === 0 ? '' : output }).toEqual({
        code: 0,
        numFailedTests: 0,
        output: '',
      });
      expect(numPassedTests).toBeGreaterThan(20);
    },
    LIMIT_MS,
  );

  it(
    'is loaded by configuration from the folder it is installed in, and its sanitizer acts',
    async () => {
      const folder = await operatorFolder('etc/operator', {
        [PLUGIN]: tarballs.plugin,
        '@gitops-reverser/kernel-api': tarballs.api,
      });

      const said: unknown = JSON.parse(await succeed(folder, process.execPath, ['load.mjs']));

      expect(said).toEqual({
        versions: [['strip-notes', '1.4.0']],
        sanitized: [
          [
            'strip-notes',
            {
              kind: 'keep',
              object: {
                apiVersion: 'v1',
                kind: 'ConfigMap',
                metadata: { name: 'app', namespace: 'demo', annotations: { kept: 'yes' } },
                data: { a: 'b' },
              },
            },
          ],
        ],
      });
    },
    LIMIT_MS,
  );

  it(
    'without its peer beside it: PluginStartFailed says what is missing',
    async () => {
      const folder = await operatorFolder('lonely', { [PLUGIN]: tarballs.plugin });

      const said = JSON.parse(await succeed(folder, process.execPath, ['load.mjs'])) as {
        readonly reason?: string;
        readonly problems: readonly [string, string][];
      };

      expect([said.reason, said.problems[0]?.[0]]).toEqual(['PluginsBroken', 'PluginStartFailed']);
      expect(said.problems[0]?.[1]).toMatch(
        /@stranger\/reverser-plugin-strip-notes: importing it failed: Cannot find package '@gitops-reverser\/kernel-api'.*Install it again with its dependencies/,
      );
    },
    LIMIT_MS,
  );

  it('ships what a stranger needs and nothing else', async () => {
    const listed = async (tarball: string): Promise<readonly string[]> =>
      (await succeed(root, 'tar', ['-tzf', tarball])).split('\n');

    for (const tarball of [tarballs.api, tarballs.testing]) {
      const files = await listed(tarball);
      expect(files).toEqual(
        expect.arrayContaining([
          'package/package.json',
          'package/README.md',
          'package/dist/index.js',
          'package/dist/index.d.ts',
        ]),
      );
      expect(files.filter((file) => /\.test\.|tsbuildinfo|\/src\//.test(file))).toEqual([]);
    }
    expect((await listed(tarballs.plugin)).filter((file) => file.includes('.test.'))).toEqual([]);
  });
});
