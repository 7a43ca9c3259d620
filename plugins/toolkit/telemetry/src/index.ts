export { createLogger, type LoggerOptions, type LogLevel } from './logger.js';
export { createMetrics, type MetricsOptions, type MetricsRegistry } from './metrics.js';
