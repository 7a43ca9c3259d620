export { DEFAULT_LIMITS, type RuntimeLimits } from './limits.js';
export { pipelineRefusals } from './refusal-meanings.js';
export { createRuntime, type RunningRuntime, type RuntimeGiven } from './runtime.js';
export { sanitize, type Cleaned } from './sanitize.js';
export { validateTemplates, type TemplateName, type TemplateProblem } from './template-validation.js';
