import base from '../../tools/lint/eslint.base.mjs';

export default base('e2e-harness');
