import { aConfigMap, memoryFolder, type FileContents } from '@gitops-reverser/kernel-testing';
import { FolderCache, parseIgnoreFile, readFolder } from '@gitops-reverser/toolkit-manifests';
import { missingFiles } from './bootstrap.js';

const missing = (files: FileContents): readonly string[] =>
  missingFiles(readFolder(memoryFolder(files), new FolderCache())).map(({ path }) => path);

describe('40, 3.2 and 20, 14: what a folder should say of itself', () => {
  it.each<{ why: string; files: FileContents; wanted: readonly string[] }>([
    { why: 'a folder that does not exist yet', files: {}, wanted: ['README.md', '.gittargetignore'] },
    {
      why: 'files of that name deeper down',
      files: { 'a/README.md': '', 'a/b.yaml': '' },
      wanted: ['README.md', '.gittargetignore'],
    },
    { why: 'both are there', files: { 'README.md': 'x', '.gittargetignore': '' }, wanted: [] },
    { why: 'emptied on purpose', files: { 'README.md': '' }, wanted: ['.gittargetignore'] },
    { why: 'in lower case', files: { 'readme.md': 'x' }, wanted: ['.gittargetignore'] },
    { why: 'in mixed case', files: { 'Readme.md': 'x' }, wanted: ['.gittargetignore'] },
    { why: 'without an extension', files: { README: 'x' }, wanted: ['.gittargetignore'] },
    { why: 'with another extension', files: { 'README.markdown': 'x' }, wanted: ['.gittargetignore'] },
    { why: 'a directory', files: { 'readme.md/a.yaml': '' }, wanted: ['.gittargetignore'] },
    { why: 'a link', files: { 'README.md': { content: '../x', mode: 'symlink' } }, wanted: ['.gittargetignore'] },
    { why: 'an ignored one', files: { 'readme.md': '', '.gittargetignore': 'readme.md\n' }, wanted: [] },
    {
      why: 'a name that only begins like it',
      files: { 'readmes.yaml': '' },
      wanted: ['README.md', '.gittargetignore'],
    },
  ])('$why: $wanted', ({ files, wanted }) => {
    expect(missing(files)).toEqual(wanted);
  });

  it('is accepted by the gate, hides nothing and is enough', () => {
    const added = missingFiles(readFolder(memoryFolder({}), new FolderCache()));
    const files = Object.fromEntries(added.map(({ path, bytes }) => [path, bytes]));
    const contents = readFolder(
      memoryFolder({ ...files, 'a.yaml': JSON.stringify(aConfigMap('a')) }),
      new FolderCache(),
    );

    expect(contents.issues).toEqual([]);
    expect(contents.documents.length).toBe(1);
    expect(missingFiles(contents)).toEqual([]);
    const rules = parseIgnoreFile(files['.gittargetignore'] ?? '');
    expect(['ci.yaml', 'scripts/x', 'a.json'].map((path) => rules.ignores(path))).toEqual([false, false, false]);
  });
});
