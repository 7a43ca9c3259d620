import type { Refusal } from '@gitops-reverser/kernel-api';
import { describeDocument, type FolderContents } from '@gitops-reverser/toolkit-manifests';

/**
 * Where documents without a namespace stand for `bareNamespace`, one that states it may be the same object: two documents
 * of which only one would be kept.
 */
export function twinsIn(contents: FolderContents, bareNamespace: string | undefined): readonly Refusal[] {
  if (bareNamespace === undefined) return [];
  return contents.documents.flatMap((bare): readonly Refusal[] => {
    // What a non-editable document says of itself is no proof.
    if (bare.identity.namespace !== undefined || bare.nature === 'non-editable') return [];
    const named = contents.find({ ...bare.identity, namespace: bareNamespace });
    if (named === undefined || named.nature === 'non-editable') return [];
    const isFirst = bare.path < named.path || (bare.path === named.path && bare.index < named.index);
    const [kept, other] = isFirst ? [bare, named] : [named, bare];
    const where = kept.path === other.path ? `document ${kept.index} of the same file` : kept.path;
    const message = `${other.path}: ${describeDocument(named.identity)} is also in ${where}, as documents without a namespace are of ${bareNamespace}; keep one of them`;
    return [{ code: 'duplicate-identity', path: other.path, index: other.index, message }];
  });
}
