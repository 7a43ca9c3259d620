import base from '../eslint.base.mjs';

// The harness is a package of its own with its own configuration.
export default [{ ignores: ['harness/**'] }, ...base('e2e')];
