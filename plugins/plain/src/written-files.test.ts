import type { FolderFile, FolderView, KubeObject } from '@gitops-reverser/kernel-api';
import { aConfigMap, aNamespace, memoryFolder, putDocument } from '@gitops-reverser/kernel-testing';
import { FolderCache, readFolder } from '@gitops-reverser/toolkit-manifests';
import { createPlainWriter } from './writer.js';

/** A folder that counts what is read back. */
function counting(folder: FolderView): FolderView & { reads: number } {
  const counted = { reads: 0 };
  const watched = (file: FolderFile): FolderFile => ({
    ...file,
    read: () => {
      counted.reads += 1;
      return file.read();
    },
  });
  return Object.assign(counted, {
    path: folder.path,
    treeId: folder.treeId,
    files: () => [...folder.files()].map(watched),
    file: (path: string) => {
      const found = folder.file(path);
      return found === undefined ? undefined : watched(found);
    },
  });
}

async function write(object: KubeObject, cache: FolderCache): Promise<FolderView & { reads: number }> {
  const writer = createPlainWriter(cache);
  const rendered = await writer.render(putDocument('a.yaml', object), undefined, new AbortController().signal);
  if (!rendered.ok || rendered.value === 'delete-file') throw new Error('expected bytes');
  return counting(memoryFolder({ 'a.yaml': rendered.value }));
}

describe('a file that was just written', () => {
  it.each([
    { what: 'a namespaced object', object: aConfigMap('one') },
    { what: 'a cluster-scoped object', object: aNamespace('shop') },
  ])('is known without being read back, and as reading would know it: $what', async ({ object }) => {
    const cache = new FolderCache();
    const folder = await write(object, cache);

    const known = readFolder(folder, cache).documents;

    expect(folder.reads).toBe(0);
    expect(known).toEqual(readFolder(folder, new FolderCache()).documents);
  });

  it('is read where only reading can tell what it is: a top-level sops map encrypts a file', async () => {
    const cache = new FolderCache();
    const folder = await write({ ...aConfigMap('one'), sops: { mac: 'x' } }, cache);

    const [document] = readFolder(folder, cache).documents;

    expect(document?.nature).toBe('encrypted');
  });
});
