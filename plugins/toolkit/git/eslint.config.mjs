import base from '../../../.config/eslint.base.mjs';

export default [
  ...base('toolkit-git'),
  // What several tests share: compiled with them, never shipped, so it may use the test kit and real servers as they do.
  { files: ['**/*.fixture.ts'], rules: { '@nx/enforce-module-boundaries': 'off' } },
];
