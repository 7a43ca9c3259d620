import type { BootstrapFile } from '@gitops-reverser/kernel-api';
import { ignoreFileName, type FolderContents } from '@gitops-reverser/toolkit-manifests';

const readme = `# Mirrored from a Kubernetes cluster

GitOps Reverser writes this folder: what somebody changes in the cluster is committed here, under the name of whoever changed it
where that is known. A \`GitTarget\` in the cluster names the folder and the objects that belong into it.

- **You may edit these files.** Comments, order, quoting and file names stay as you leave them; the operator changes the lines that
  hold what changed, wherever a document lies, and puts new objects beside similar ones.
- **It carries the cluster into Git, not Git into the cluster.** Applying these files is the job of Flux, Argo CD or \`kubectl\`. What is
  edited here and applied by nobody gives way to the live value when the object is looked at again.
- **Every other file needs a word.** A file that is no manifest stops all writing to this folder until it is gone or named in
  \`${ignoreFileName}\`; the target's condition \`GitPathAccepted\` says which. Markdown, licences and \`.gitignore\` are fine as they are.

This text is yours now: it is written once, where a folder has no README, and never touched again.
`;

const ignoreFile = `# What GitOps Reverser neither reads nor writes in this folder. Syntax and precedence are those of .gitignore.
# Only this file counts, at the top of the folder that a GitTarget names. Patterns that would hide every manifest are refused.
#
# scripts/
# *.json
# ci.yaml
`;

const files: readonly { readonly path: string; readonly isTaken: RegExp; readonly text: string }[] = [
  { path: 'README.md', isTaken: /^readme(?:\.|$)/i, text: readme },
  { path: ignoreFileName, isTaken: /^\.gittargetignore$/i, text: ignoreFile },
];

/** What a folder should say of itself (chapters 40, 3.2 and 20, 14), as far as nothing of that name is there in any spelling. */
export function missingFiles({ entries }: Pick<FolderContents, 'entries'>): readonly BootstrapFile[] {
  const names = new Set(entries.map(({ path }) => path.slice(0, path.includes('/') ? path.indexOf('/') : undefined)));
  return files
    .filter(({ isTaken }) => ![...names].some((name) => isTaken.test(name)))
    .map(({ path, text }) => ({ path, bytes: Buffer.from(text) }));
}
