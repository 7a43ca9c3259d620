import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Sums what the tally reporter left in a folder and prints one line. Fails when a test failed, and when none ran. */
const dir = process.argv[2] ?? '';
const sum = { passed: 0, failed: 0, skipped: 0 };
for (const name of readdirSync(dir)) {
  const tally = JSON.parse(readFileSync(join(dir, name), 'utf8'));
  for (const key of Object.keys(sum)) sum[key] += tally[key];
}
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
process.exitCode = sum.passed > 0 && sum.failed === 0 ? 0 : 1;
