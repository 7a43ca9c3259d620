import { createHash } from 'node:crypto';
import { commitSha, type CommitSha, type FileMode, type Signature } from '@gitops-reverser/kernel-api';

/** One entry of an in-memory tree; `oid` is the object id Git itself would give. */
export interface MemoryFile {
  readonly mode: FileMode;
  readonly oid: string;
  readonly bytes: Uint8Array;
}
/** Files by path within the repository. */
export type MemoryTree = ReadonlyMap<string, MemoryFile>;

export interface MemoryCommit {
  readonly commit: CommitSha;
  readonly parent: CommitSha | undefined;
  readonly tree: MemoryTree;
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

const MODES: Readonly<Record<FileMode | 'tree', string>> = {
  file: '100644',
  executable: '100755',
  symlink: '120000',
  submodule: '160000',
  tree: '40000',
};

export const toBytes = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content;
export const toText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function objectId(type: 'blob' | 'tree' | 'commit', body: Uint8Array): string {
  return createHash('sha1').update(`${type} ${body.byteLength}\0`).update(body).digest('hex');
}

export function memoryFile(content: string | Uint8Array, mode: FileMode = 'file'): MemoryFile {
  const bytes = toBytes(content);
  return { mode, bytes, oid: mode === 'submodule' ? toText(bytes) : objectId('blob', bytes) };
}

interface Directory {
  readonly files: Map<string, MemoryFile>;
  readonly directories: Map<string, Directory>;
}

/** Id of the tree that holds exactly these files. */
export function treeId(tree: MemoryTree): string {
  const root: Directory = { files: new Map(), directories: new Map() };
  for (const [path, file] of tree) {
    const names = path.split('/');
    const last = names.pop() ?? path;
    let directory = root;
    for (const name of names) {
      const below = directory.directories.get(name) ?? { files: new Map(), directories: new Map() };
      directory.directories.set(name, below);
      directory = below;
    }
    directory.files.set(last, file);
  }
  return directoryId(root);
}

function directoryId({ files, directories }: Directory): string {
  const entries = [
    ...[...files].map(([name, file]) => ({ name, sortKey: name, mode: MODES[file.mode], oid: file.oid })),
    // Git sorts a directory as if its name ended in a slash.
    ...[...directories].map(([name, below]) => ({
      name,
      sortKey: `${name}/`,
      mode: MODES.tree,
      oid: directoryId(below),
    })),
  ].sort((a, b) => Buffer.compare(Buffer.from(a.sortKey), Buffer.from(b.sortKey)));
  const parts = entries.flatMap(({ name, mode, oid }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
  return objectId('tree', Buffer.concat(parts));
}

export function memoryCommit(draft: Omit<MemoryCommit, 'commit'>): MemoryCommit {
  const body = [
    `tree ${treeId(draft.tree)}`,
    ...(draft.parent === undefined ? [] : [`parent ${draft.parent}`]),
    `author ${signatureLine(draft.author)}`,
    `committer ${signatureLine(draft.committer)}`,
    '',
    draft.message,
  ].join('\n');
  const recorded = { author: wholeSeconds(draft.author), committer: wholeSeconds(draft.committer) };
  return { ...draft, ...recorded, commit: commitSha(objectId('commit', toBytes(body))) };
}

const wholeSeconds = (signature: Signature): Signature => ({
  ...signature,
  at: new Date(Math.floor(signature.at.getTime() / 1_000) * 1_000),
});

function signatureLine({ name, email, at }: Signature): string {
  return `${name} <${email}> ${Math.floor(at.getTime() / 1_000)} +0000`;
}
