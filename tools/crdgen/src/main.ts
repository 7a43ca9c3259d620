import { resolve } from 'node:path';
import { findDrift, mend } from './generated-file.js';
import { generatedFiles } from './generated-files.js';

/** `npm run generate` writes; `npm run generate -- --check` only says what is stale, and fails. */
const [flag, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (flag !== undefined && flag !== '--check')) {
  process.stderr.write(`usage: npm run generate [-- --check]; found ${[flag, ...rest].join(' ')}\n`);
  process.exit(2);
}
const root = resolve(import.meta.dirname, '../../..');
const files = generatedFiles();
const drifts = await findDrift(root, files);
if (flag === '--check') {
  for (const { path, found } of drifts) process.stderr.write(`${path} is ${found}\n`);
  if (drifts.length > 0) process.stderr.write('run npm run generate and commit the result\n');
  process.exitCode = drifts.length === 0 ? 0 : 1;
} else {
  await mend(root, files, drifts);
  process.stdout.write(`${files.length} files generated, ${drifts.length} changed\n`);
}
