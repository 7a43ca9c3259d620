import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Files = Readonly<
  Record<string, string | Uint8Array | { readonly link: string } | { readonly directory: true }>
>;

/** A directory on disk for one test. */
export function temporaryFolder(files: Files): { readonly root: string } & Disposable {
  const root = mkdtempSync(join(tmpdir(), 'manifest-analyzer-'));
  for (const [path, content] of Object.entries(files)) {
    const full = join(root, path);
    mkdirSync(dirname(full), { recursive: true });
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(full, content);
    else if ('link' in content) symlinkSync(content.link, full);
    else mkdirSync(full, { recursive: true });
  }
  return {
    root,
    [Symbol.dispose]() {
      rmSync(root, { recursive: true });
    },
  };
}

export const configMap = (name: string, namespace = 'shop'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n`;
