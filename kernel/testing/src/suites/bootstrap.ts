import type { BootstrapFile, FolderView, Layout, Writer } from '@gitops-reverser/kernel-api';

/** Asks twice and checks what is named: inside the folder, each path once, the same bytes again. Empty without the method. */
export function bootstrapOf(instance: Layout | Writer, folder: FolderView): readonly BootstrapFile[] {
  const files = instance.bootstrap?.(folder) ?? [];
  const paths = files.map(({ path }) => path);

  expect(paths.filter((path) => path.split('/').some((name) => ['', '.', '..', '.git'].includes(name)))).toEqual([]);
  expect(paths).toEqual([...new Set(paths)]);
  expect(instance.bootstrap?.(folder) ?? []).toEqual(files);
  return files;
}
