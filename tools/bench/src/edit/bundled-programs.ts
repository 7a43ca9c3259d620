import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { runCommand } from '@gitops-reverser/e2e-harness';
import { build } from 'esbuild';

import type { Measured } from './programs/child.js';

const programs = ['edit-file', 'edit-file-rival', 'folder-model', 'scan', 'read-all-rival'] as const;
const workspace = join(import.meta.dirname, '..', '..', '..', '..');
type ProgramName = (typeof programs)[number];

/** Programs that measure, each run as a process of its own: nobody's garbage and nobody's warm code is in another one's figure. */
export class BundledPrograms {
  readonly #dir: string;
  readonly #profile: string | undefined;

  constructor(dir: string, profile: string | undefined) {
    this.#dir = dir;
    this.#profile = profile;
  }

  /** @throws Error with the program's own words when it fails, as it does when content is wrong */
  async run<Answer>(name: ProgramName, ask: unknown): Promise<Measured<Answer> & { readonly answer: Answer }> {
    const measured = await this.#run<Answer>(name, ask);
    if (measured.answer === undefined) throw new Error(`${name} gave no answer`);
    return { ...measured, answer: measured.answer };
  }

  /** Peak memory of the program when it does nothing. */
  async idlePeakRssMiB(name: ProgramName): Promise<number> {
    return (await this.#run(name, { idle: true })).peakRssMiB;
  }

  async #run<Answer>(name: ProgramName, ask: unknown): Promise<Measured<Answer>> {
    const flags = this.#profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${this.#profile}`];
    const args = [...flags, join(this.#dir, `${name}.js`), JSON.stringify(ask)];
    const { exit, stdout, stderr } = await runCommand(process.execPath, args);
    if (exit.code !== 0) throw new Error(`${name} ended with ${exit.code ?? exit.signal}:\n${stderr}`);
    return JSON.parse(stdout.toString()) as Measured<Answer>;
  }
}

/** Bundles them as the operator is bundled: no compiler and no module resolution runs inside what is measured. */
export async function bundlePrograms(dir: string, profile: string | undefined): Promise<BundledPrograms> {
  const here = join(import.meta.dirname, 'programs');
  const ofYamlToolkit = createRequire(fileURLToPath(import.meta.resolve('@gitops-reverser/toolkit-yaml')));
  await build({
    entryPoints: {
      ...Object.fromEntries(programs.map((name) => [name, join(here, `${name}.ts`)])),
      'plugin-plain': join(workspace, 'plugins/plain/src/index.ts'),
      'manifest-analyzer': join(workspace, 'apps/manifest-analyzer/src/index.ts'),
      yaml: ofYamlToolkit.resolve('yaml'),
    },
    outdir: dir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@gitops-reverser/source'],
    sourcemap: true,
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return new BundledPrograms(dir, profile);
}
