export { encodeKey, encodeYaml, encodeYamlDocuments } from './encode.js';
export {
  identifyDocuments,
  limits,
  parseDocuments,
  type IdentifiedDocument,
  type YamlDocument,
  type YamlReading,
} from './documents.js';
export { deepEqual } from './equality.js';
export type { IdentityText } from './full-reader.js';
export { parseJson, stringifyJson } from './json.js';
export { compareCodePoints } from './key-order.js';
export { isMisreadWhenPlain, readPlainScalar, type Scalar } from './plain-scalar.js';
export type { YamlProblem } from './problem.js';
export { splitDocuments, type DocumentPiece, type SplitText } from './split.js';
