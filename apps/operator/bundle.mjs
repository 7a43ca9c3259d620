import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Bundles the operator into one file that runs without node_modules: `dist/operator.mjs`. */
const root = import.meta.dirname;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const head = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' });

await build({
  entryPoints: [join(root, 'src/main.ts')],
  outfile: join(root, 'dist/operator.mjs'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  conditions: ['@gitops-reverser/source'],
  sourcemap: true,
  legalComments: 'linked',
  define: {
    OPERATOR_VERSION: JSON.stringify(version),
    OPERATOR_COMMIT: JSON.stringify(head.status === 0 ? head.stdout.trim() : 'unknown'),
  },
  // CommonJS packages inside an ES module ask for these.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  external: ['*.node', 'cpu-features'],
  logLevel: 'warning',
});
