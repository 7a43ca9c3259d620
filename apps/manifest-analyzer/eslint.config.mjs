import base from '../../tools/lint/eslint.base.mjs';

export default base('manifest-analyzer');
