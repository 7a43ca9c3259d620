import { git, tempDir } from '@gitops-reverser/e2e-harness';
import { encodeCommit, parseCommit, type CommitFields } from './commit-object.js';
import { EMPTY_TREE_OID, hashObject } from './oid.js';

const at = new Date('2026-03-01T10:00:00.900Z');
const fields: CommitFields = {
  tree: EMPTY_TREE_OID,
  parent: undefined,
  author: { name: 'Ada Lövelace', email: 'ada@example.com', at },
  committer: { name: 'GitOps Reverser', email: 'noreply@configbutler.ai', at },
  message: 'Käse\n\nbody\n',
};

describe('encodeCommit', () => {
  it('gives the object git gives: whole seconds, +0000, no encoding header', async () => {
    await using dir = await tempDir('commit');
    await git(['init', '--quiet', '--bare', dir.path]);
    await git(['--git-dir', dir.path, 'hash-object', '-t', 'tree', '-w', '/dev/null']);
    const env = {
      GIT_AUTHOR_NAME: fields.author.name,
      GIT_AUTHOR_EMAIL: fields.author.email,
      GIT_AUTHOR_DATE: '1772359200 +0000',
      GIT_COMMITTER_NAME: fields.committer.name,
      GIT_COMMITTER_EMAIL: fields.committer.email,
      GIT_COMMITTER_DATE: '1772359200 +0000',
    };

    const expected = (
      await git(['--git-dir', dir.path, 'commit-tree', EMPTY_TREE_OID], { env, input: fields.message })
    ).trim();

    expect(hashObject('commit', encodeCommit(fields))).toBe(expected);
  });

  it('3.4: keeps a literal message byte for byte, without a final newline too', () => {
    expect(
      encodeCommit({ ...fields, message: '  as typed  ' })
        .toString()
        .endsWith('\n\n  as typed  '),
    ).toBe(true);
  });

  it.each([
    { what: 'author name', name: 'Eve\nauthor Mallory <m@x.yz> 0 +0000' },
    { what: 'author name', name: 'Eve <root@example.com>' },
    { what: 'author name', name: 'Eve\0' },
    { what: 'author name', name: '' },
    { what: 'author name', name: ' .,;' },
    { what: 'author e-mail address', email: 'a@b.cd>\nparent ' },
    { what: 'author e-mail address', email: 'a b@c.de' },
    { what: 'author date', at: new Date(NaN) },
    { what: 'author date', at: new Date(-1000) },
  ])('3.5: refuses a $what that would leave its line: %j', ({ what, ...author }) => {
    const act = (): unknown => encodeCommit({ ...fields, author: { ...fields.author, ...author } });

    expect(act).toThrow(expect.objectContaining({ reason: 'CommitMalformed', details: { field: what } }) as Error);
  });

  it('3.4: refuses NUL in a message', () => {
    expect(() => encodeCommit({ ...fields, message: 'a\0b' })).toThrow('its message contains a NUL character');
  });
});

describe('parseCommit', () => {
  it('reads tree, parents and the date of the committer, past signatures and mergetags', () => {
    const data = Buffer.from(
      `tree ${EMPTY_TREE_OID}\nparent ${'1'.repeat(40)}\nparent ${'2'.repeat(40)}\nauthor A <a@b.cd> 1 +0000\ncommitter C <c@d.ef> 1700000000 -0130\ngpgsig -----BEGIN\n parent ${'3'.repeat(40)}\n -----END\n\ntree of life\n`,
    );

    expect(parseCommit('x', data)).toEqual({
      tree: EMPTY_TREE_OID,
      parents: ['1'.repeat(40), '2'.repeat(40)],
      committedAtSeconds: 1_700_000_000,
    });
  });
});
