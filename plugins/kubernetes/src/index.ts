export { kubernetesOptions, plugin } from './plugin.js';
export { createSanitizer, GENERATED_FILTERS, type SanitizerOptions } from './sanitizer/index.js';
