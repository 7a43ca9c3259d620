import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const cases = [
  {
    why: 'a plugin never imports a plugin',
    path: 'plugins/plain/src/index.ts',
    from: '@gitops-reverser/plugin-kubernetes',
    refused: '@nx/enforce-module-boundaries',
  },
  {
    why: 'the kernel knows no toolkit',
    path: 'kernel/pipeline/src/index.ts',
    from: '@gitops-reverser/toolkit-git',
    refused: '@nx/enforce-module-boundaries',
  },
  {
    why: 'product code never imports the embedded API server',
    path: 'apps/operator/src/index.ts',
    from: '@gitops-reverser/devcluster',
    refused: '@nx/enforce-module-boundaries',
  },
  {
    why: 'e2e runs what users run',
    path: 'e2e/src/index.ts',
    from: '@gitops-reverser/operator',
    refused: '@nx/enforce-module-boundaries',
  },
  {
    why: 'a plugin stands on toolkits',
    path: 'plugins/plain/src/index.ts',
    from: '@gitops-reverser/toolkit-yaml',
    refused: undefined,
  },
  {
    why: 'everybody speaks the words of the kernel',
    path: 'kernel/pipeline/src/index.ts',
    from: '@gitops-reverser/kernel-api',
    refused: undefined,
  },
  { why: 'yaml has one door', path: 'plugins/plain/src/index.ts', from: 'yaml', refused: 'no-restricted-imports' },
  {
    why: 'isomorphic-git has one door',
    path: 'kernel/pipeline/src/index.ts',
    from: 'isomorphic-git',
    refused: 'no-restricted-imports',
  },
  { why: 'awilix has one door', path: 'apps/operator/src/index.ts', from: 'awilix', refused: 'no-restricted-imports' },
];

/** Every case in one process: starting the linter costs more than linting. */
function lintAll(): readonly (readonly string[])[] {
  const input = JSON.stringify(
    cases.map(({ path, from }) => ({
      path,
      text: `import * as other from '${from}';\n\nexport const used = other;\n`,
    })),
  );
  const env = { ...process.env, NODE_OPTIONS: '', NX_DAEMON: 'false' };
  const run = spawnSync(process.execPath, [join(import.meta.dirname, '../lint-cases.mjs')], {
    input,
    encoding: 'utf8',
    env,
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout) as string[][];
}

describe('who may lean on whom', () => {
  let answers: readonly (readonly string[])[] = [];
  beforeAll(() => {
    answers = lintAll();
  }, 120_000);

  it.each(cases.map((each, index) => ({ ...each, index })))('$why ($path imports $from)', ({ index, refused }) => {
    const rules = (answers[index] ?? []).map((message) => message.split(':')[0]);

    expect(rules).toEqual(refused === undefined ? [] : [refused]);
  });
});
