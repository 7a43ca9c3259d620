export { bookkeeping } from './bookkeeping.js';
export { createSanitizer, type SanitizerOptions } from './sanitizer.js';
export { GENERATED_FILTERS } from './provenance.js';
