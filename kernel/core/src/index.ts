export { PluginsBroken, REASONS, type CoreReason } from './errors.js';
export * from './kernel.js';
export type { PluginManifest } from './manifest.js';
export type { TokenOffer } from './plugin-checks.js';
export * from './plugin-loader.js';
export type { BrokenPlugin, LoadedPlugin, PluginRegistry, RankedContribution } from './registry.js';
export type { InstanceHealth, KernelScope } from './scope.js';
