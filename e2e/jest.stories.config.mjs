import { join } from 'node:path';

import { jestConfig } from '../.config/jest.base.mjs';

const root = join(import.meta.dirname, '..');

/** Stories need real servers: `npm run e2e` runs them, `npm test` never does. Any package may have some. */
export default {
  ...jestConfig(root),
  roots: ['kernel', 'plugins', 'crds', 'apps', 'tools', 'e2e'].map((folder) => join(root, folder)),
  testMatch: ['**/src/**/*.story.ts'],
  modulePathIgnorePatterns: ['/dist/', '/out-tsc/'],
  testTimeout: 90_000,
  // Stories wait most of their time, and each has servers of its own: two at a time take little more than half as long as one.
  maxWorkers: 2,
  passWithNoTests: false,
};
