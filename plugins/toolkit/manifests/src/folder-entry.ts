import type { FileMode, FolderFile } from '@gitops-reverser/kernel-api';
import { issue, type Issue } from './acceptance.js';
import { roleOf, type EntryRole } from './folder-roles.js';
import { describeDocument, type DocumentIdentity } from './identity.js';
import { ignoreFileName, type IgnoreRules } from './ignore-file.js';
import type { FileDocument, ManifestFile } from './manifest-file.js';

/** A document with a known or claimed identity, and where it is. */
export interface FolderDocument {
  readonly identity: DocumentIdentity;
  readonly path: string;
  readonly index: number;
  /** Of the file that holds it. */
  readonly oid: string;
  readonly nature: 'manifest' | 'non-editable' | 'encrypted';
  /** Of a non-editable document. */
  readonly construct?: string;
  /** Documents in its file, itself included. */
  readonly siblings: number;
}

/** One entry of a folder, judged on its own. */
export interface FolderEntry {
  readonly path: string;
  readonly oid: string;
  readonly mode: FileMode;
  readonly role: EntryRole;
  /** Of a manifest. */
  readonly file?: ManifestFile;
  readonly documents: readonly FolderDocument[];
  readonly issue?: Issue;
}

const none: readonly FolderDocument[] = [];

/** Role, documents and the one issue of an entry. Only manifests and artifacts are read. */
export function inspectEntry(
  file: FolderFile,
  rules: IgnoreRules,
  read: (file: FolderFile) => ManifestFile,
): FolderEntry {
  const { path, oid, mode } = file;
  const role = roleOf(path, mode, rules);
  if (role === 'manifest') return inspectManifest(path, oid, mode, read(file));
  const problem = isArtifact(role) ? judgeArtifact(path, role, read(file)) : describeForeign(path, role);
  const entry = { path, oid, mode, role, documents: none };
  return problem === undefined ? entry : { ...entry, issue: problem };
}

function inspectManifest(path: string, oid: string, mode: FileMode, file: ManifestFile): FolderEntry {
  const documents: FolderDocument[] = [];
  for (const { identity, index, nature, construct } of file.documents) {
    if (identity === undefined || nature === 'not-krm' || nature === 'empty' || nature === 'invalid') continue;
    const document = { identity, path, index, oid, nature, siblings: file.documents.length };
    documents.push(construct === undefined ? document : { ...document, construct });
  }
  const problem = judgeManifest(path, file);
  const entry = { path, oid, mode, role: 'manifest', file, documents } as const;
  return problem === undefined ? entry : { ...entry, issue: problem };
}

const isArtifact = (role: EntryRole): boolean =>
  role === 'kustomization' || role === 'sops-config' || role === 'readme';

function judgeArtifact(path: string, role: EntryRole, file: ManifestFile): Issue | undefined {
  // Prose may quote a manifest; only what reads as YAML from its first line to its last is one.
  if (role === 'readme' && file.documents.some(({ nature }) => nature === 'invalid')) return undefined;
  const isOwnKind = (group: string): boolean => group === 'kustomize.config.k8s.io';
  const manifest = file.documents.find(({ identity }) => identity !== undefined && !isOwnKind(identity.group));
  if (manifest?.identity === undefined) return undefined;
  const what = `${describeDocument(manifest.identity)} stands in a file that is no manifest; move it to a file of its own`;
  return issue('mixed-managed-allowlisted', path, what, manifest.index);
}

function describeForeign(path: string, role: EntryRole): Issue | undefined {
  const remedy = `remove it or name it in ${ignoreFileName}`;
  switch (role) {
    case 'foreign-file':
      if (path.endsWith(`/${ignoreFileName}`)) {
        const what = `only the ${ignoreFileName} at the top of the folder counts; move its patterns there`;
        return issue('foreign-file', path, what);
      }
      return issue('foreign-file', path, `foreign file is not a managed manifest; ${remedy}`);
    case 'unsafe-path':
      return issue('foreign-file', path, 'this path cannot be checked out safely; remove it');
    case 'foreign-symlink':
      return issue('foreign-symlink', path, `symbolic links are not followed; ${remedy}`);
    case 'foreign-submodule':
      return issue('foreign-submodule', path, 'submodules are not read; remove it');
    default:
      return undefined;
  }
}

const isManifest = ({ nature }: FileDocument): boolean =>
  nature === 'manifest' || nature === 'non-editable' || nature === 'encrypted';

const repair = `repair the file, remove it or name it in ${ignoreFileName}`;

/** A file of manifests alone, or one without any document, passes. */
function judgeManifest(path: string, file: ManifestFile): Issue | undefined {
  if (file.problem !== undefined) return issue('invalid-yaml', path, `${file.problem}; ${repair}`);
  const intruder = file.documents.find((document) => !isManifest(document));
  if (intruder === undefined) return undefined;
  if (file.documents.some(isManifest)) {
    const what = `${describeIntruder(intruder)}; a file of manifests holds nothing else: take it out`;
    return issue('impure-managed-file', path, what, intruder.index);
  }
  const invalid = file.documents.find(({ nature }) => nature === 'invalid');
  if (invalid !== undefined)
    return issue('invalid-yaml', path, `${invalid.problem ?? 'does not parse'}; ${repair}`, invalid.index);
  const notKrm = file.documents.find(({ nature }) => nature === 'not-krm');
  if (notKrm === undefined) return undefined;
  const what = `YAML is not a Kubernetes manifest (apiVersion, kind and metadata.name are needed; a List must be split into documents); remove it or name it in ${ignoreFileName}`;
  return issue('non-krm-yaml', path, what, notKrm.index);
}

function describeIntruder({ index, line, nature, problem }: FileDocument): string {
  const where = `document ${index} (line ${line})`;
  if (nature === 'invalid') return `${where} does not parse: ${problem ?? ''}`;
  return nature === 'empty' ? `${where} is empty` : `${where} is not a Kubernetes manifest`;
}
