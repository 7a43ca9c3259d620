import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Leaves one JSON file per test run in TEST_TALLY_DIR, so that a caller can sum the runs of all packages. */
export default class TallyReporter {
  onRunComplete(_contexts, results) {
    const dir = process.env.TEST_TALLY_DIR;
    if (!dir) return;
    mkdirSync(dir, { recursive: true });
    const {
      numPassedTests: passed,
      numFailedTests,
      numRuntimeErrorTestSuites,
      numPendingTests,
      numTodoTests,
    } = results;
    const tally = {
      passed,
      failed: numFailedTests + numRuntimeErrorTestSuites,
      skipped: numPendingTests + numTodoTests,
    };
    writeFileSync(join(dir, `${process.pid}-${Date.now()}.json`), JSON.stringify(tally));
  }
}
