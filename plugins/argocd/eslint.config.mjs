import base from '../../.config/eslint.base.mjs';

export default base('plugin-argocd');
