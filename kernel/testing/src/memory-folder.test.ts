import { memoryFolder } from './memory-folder.js';

describe('memoryFolder', () => {
  it('lists files in path order with the ids Git gives', () => {
    const folder = memoryFolder({ 'b.txt': 'two\n', 'a/x.yaml': 'one\n', 'a.b': '' });

    const listed = [...folder.files()].map(({ path, oid }) => [path, oid]);

    // printf '' | git hash-object --stdin, and so on
    expect(listed).toEqual([
      ['a.b', 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'],
      ['a/x.yaml', '5626abf0f72e58d7a153368ba57db4c673c0e171'],
      ['b.txt', 'f719efd430d52bcfc8566a43b2eb655688d38871'],
    ]);
  });

  it('gives equal ids to equal folders, and none to a folder that does not exist', () => {
    const ids = [{ a: '1', b: '2' }, { b: '2', a: '1' }, { a: '1' }, {}].map((files) => memoryFolder(files).treeId);

    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[2]);
    expect(ids[3]).toBe('');
  });

  it('hands out copies: changing what was read changes nothing', () => {
    const folder = memoryFolder({ a: 'abc' });

    folder.file('a')?.read().fill(0);

    expect(new TextDecoder().decode(folder.file('a')?.read())).toBe('abc');
  });

  it.each(['../a', 'a//b', '/a', 'a/./b', '.git/config', ''])('refuses the path %j', (path) => {
    expect(() => memoryFolder({ [path]: '' })).toThrow('expected a relative path');
  });
});
