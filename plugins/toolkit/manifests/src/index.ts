export { acceptanceReason, summarizeIssues, type Issue, type IssueCode } from './acceptance.js';
export type { FolderContents } from './folder-contents.js';
export type { FolderDocument, FolderEntry } from './folder-entry.js';
export { judgePlainFolder, sortFolderIssues, type FolderIssue, type FolderVerdict } from './folder-verdict.js';
export { FolderCache, maxFiles, readFolder } from './folder-reader.js';
export { isKustomizationPath, roleOf, type EntryRole } from './folder-roles.js';
export { describeDocument, documentKey, key, parseApiVersion, type DocumentIdentity } from './identity.js';
export { ignoreFileName, parseIgnoreFile, type IgnoreRules } from './ignore-file.js';
export type { DocumentNature, FileDocument, ManifestFile } from './manifest-file.js';
export { PathIndex } from './path-index.js';
export {
  placeAll,
  type ExistingFile,
  type Placement,
  type PlacementRefusal,
  type PlacementRefusalReason,
  type PlacementSite,
  type PlacementSource,
} from './placement.js';
export {
  canonicalPlacement,
  validatePlacement,
  type PlacementPolicy,
  type PlacementProblem,
  type PlacementSpec,
} from './placement-policy.js';
export {
  parsePlacementTemplate,
  placementVariables,
  type PlacementSubject,
  type PlacementTemplate,
} from './placement-template.js';
export { builtInType, type BuiltInType } from './built-in-types.js';
export { folderRefusals, placementRefusals, scanRefusals } from './refusal-meanings.js';
export { searchSiblings, type SiblingPlace, type SiblingSearch, type SiblingStep } from './siblings.js';
export {
  isSensitive,
  noAdditionalSensitiveResources,
  parseSensitiveResources,
  type SensitiveResources,
} from './sensitivity.js';
export * from './kustomize/index.js';
export { toRenderRoots } from './kustomize/render-roots.js';
export { withRenderRoots, type RenderRoot } from './render-roots.js';
export type { RetainedFile } from './values-context.js';
