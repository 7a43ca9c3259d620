export { bookkeeping } from './bookkeeping.js';
export { FIELD_RULES } from './kinds.js';
export { createSanitizer } from './sanitizer.js';
export { GENERATED_FILTERS } from './provenance.js';
