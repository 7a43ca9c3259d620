import base from '../lint/eslint.base.mjs';

export default base('bench');
