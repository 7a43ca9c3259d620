import base from '../.config/eslint.base.mjs';

// The harness is a package of its own with its own configuration; the outsider is a stranger to this workspace.
export default [{ ignores: ['harness/**', 'outsider/**'] }, ...base('e2e')];
