import base from '../../tools/lint/eslint.base.mjs';

export default base('kernel-core');
