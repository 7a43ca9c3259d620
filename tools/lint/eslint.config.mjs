import base from './eslint.base.mjs';

export default base('lint');
