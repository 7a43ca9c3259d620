export { buildStructure, type BuiltObject, type KustomizeBuild, type Override } from './build.js';
export { isKnownClusterScoped } from './cluster-scoped.js';
export type { ImageEntry, ReplicaEntry } from './entries.js';
export { describeFeatures, isSolvable, mergeFeatures, type KustomizeFeature } from './features.js';
export { readKustomizeFolder, type DocumentInContext, type KustomizeFolder } from './folder.js';
export type { ConfigMapGenerator } from './generators.js';
export { parseKustomization, type Kustomization, type Patch } from './kustomization.js';
export { findRenderRoots, kustomizationDirectories, type RenderRoots } from './roots.js';
export { directoryOf, isWithin, KustomizeTree, resolveEntry, type LocatedKustomization } from './tree.js';
