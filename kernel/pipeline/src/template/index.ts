export { renderTemplate } from './evaluator.js';
export type { Template } from './nodes.js';
export { parseTemplate } from './parser.js';
export { TemplateError } from './template-error.js';
export { TemplateMap, TemplateRecord, type Value } from './values.js';
