export { createPlainLayout, type PlainLayoutOptions } from './layout.js';
export { plugin } from './plugin.js';
