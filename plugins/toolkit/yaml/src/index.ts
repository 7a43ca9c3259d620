export { encodeKey, encodeYaml, encodeYamlDocuments } from './encode.js';
export {
  identifyDocuments,
  limits,
  openText,
  parseDocuments,
  readDocument,
  type IdentifiedDocument,
  type YamlDocument,
  type YamlReading,
} from './documents.js';
export { editDocument, type Edited, type EditOptions, type EditRefusal } from './edit/edit-document.js';
export {
  appendDocument,
  hasOtherContent,
  removeDocument,
  replaceDocument,
  withDocumentText,
} from './edit/file-edits.js';
export { isSameIntent, rootPlace, type Place } from './edit/intent.js';
export { setDocumentValue, type PlaceRefusal } from './edit/set-value.js';
export { isSameQuantity } from './edit/quantity.js';
export { deepEqual } from './equality.js';
export type { IdentityText } from './full-reader.js';
export { parseJson, stringifyJson } from './json.js';
export { compareCodePoints } from './key-order.js';
export { isMisreadWhenPlain, readPlainScalar, type Scalar } from './plain-scalar.js';
export type { YamlProblem } from './problem.js';
export { splitDocuments, type DocumentPiece, type SplitText } from './split.js';
