import { join } from 'node:path';

/** One Jest configuration for every package: native ESM, sources instead of builds. */
export function jestConfig(rootDir) {
  return {
    rootDir,
    testEnvironment: 'node',
    testEnvironmentOptions: { customExportConditions: ['@gitops-reverser/source', 'node', 'node-addons'] },
    roots: ['<rootDir>/src'],
    testMatch: ['**/*.test.ts'],
    extensionsToTreatAsEsm: ['.ts'],
    moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
    transform: {
      '^.+\\.ts$': [
        '@swc/jest',
        {
          swcrc: false,
          jsc: { parser: { syntax: 'typescript' }, target: 'es2022', keepClassNames: true },
          module: { type: 'es6' },
          sourceMaps: 'inline',
        },
      ],
    },
    reporters: ['default', join(import.meta.dirname, '../tools/lint/tally-reporter.mjs')],
    coverageProvider: 'v8',
    workerIdleMemoryLimit: '700MB',
    passWithNoTests: true,
  };
}
