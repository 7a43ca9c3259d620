export { kubernetesOptions, plugin } from './plugin.js';
export { FIELD_RULES, GENERATED_FILTERS } from './sanitizer/index.js';
