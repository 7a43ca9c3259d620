import type { Base, BranchStore, CommitDraft, CommitSha, FolderView, Signature } from '@gitops-reverser/kernel-api';
import { withoutLeaks } from '../leak-guard.js';
import { toBytes, toText } from '../git-objects.js';
import { within } from '../waiting.js';

export interface BranchStoreSetup {
  readonly branch: string;
  /** Absent: the remote's default branch. */
  readonly parent?: string;
  /** Files of the first commit on the default branch `main`; absent: an empty repository whose HEAD names `main`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Which of `files` are executable. */
  readonly executables?: readonly string[];
}

export interface LoggedCommit {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

/** A store and, by another way, the repository it speaks to. */
export interface BranchStoreUnderTest extends AsyncDisposable {
  readonly store: BranchStore;
  /** Somebody else's commit on `branch` (default `main`), made from its tip; `undefined` removes a file. */
  foreignPush(files: Readonly<Record<string, string | undefined>>, branch?: string): Promise<CommitSha>;
  deleteBranch(branch: string): Promise<void>;
  tip(branch: string): Promise<CommitSha | undefined>;
  /** Text of every file on a branch. */
  files(branch: string): Promise<Readonly<Record<string, string>>>;
  /** Commits of a branch, newest first. */
  log(branch: string): Promise<readonly LoggedCommit[]>;
  /** Proves the repository sound: `git fsck --strict` or its like. */
  verify?(): Promise<void>;
  /** The next publish lands, and its answer is lost. Absent: no such test. */
  cutNextPublishAfterLanding?(): void;
  /** The next publish is cut before it reaches the remote. Absent: no such test. */
  cutNextPublishBeforeLanding?(): void;
}

const signature = (name: string, seconds: number): Signature => ({
  name,
  email: `${name.toLowerCase()}@example.test`,
  at: new Date(seconds * 1_000),
});
const ALICE = signature('Alice', 1_767_225_600);
const BOT = signature('Reverser', 1_767_225_601);
const never = new AbortController().signal;

/** The contract of a branch store, whatever it is made of. */
export function describeBranchStore(
  name: string,
  factory: (setup: BranchStoreSetup) => Promise<BranchStoreUnderTest>,
): void {
  describe(`branch store: ${name}`, () => {
    const over = (setup: BranchStoreSetup, act: (subject: BranchStoreUnderTest) => Promise<void>): Promise<void> =>
      withoutLeaks(async () => {
        const subject = await factory(setup);
        try {
          await act(subject);
          await subject.verify?.();
        } finally {
          await subject.store[Symbol.asyncDispose]();
          await subject[Symbol.asyncDispose]();
        }
      });
    const observe = ({ store }: BranchStoreUnderTest): Promise<Base> =>
      within(store.observe(never), 'an observation', 20_000);
    const observeBranch = async (subject: BranchStoreUnderTest): Promise<Base & { readonly kind: 'branch' }> => {
      const base = await observe(subject);
      if (base.kind !== 'branch') throw new Error(`expected the branch, found ${JSON.stringify(base)}`);
      return base;
    };
    const reasonOf = async (promise: Promise<unknown>): Promise<unknown> => {
      try {
        return await promise;
      } catch (error) {
        return (error as { readonly reason?: string }).reason ?? error;
      }
    };

    describe('where the branch is', () => {
      it('finds an existing branch at its tip', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          expect(await observe(subject)).toEqual({ kind: 'branch', commit: await subject.tip('main') });
        });
      });

      it('sees a foreign push, and can still read the older commit', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const before = await observeBranch(subject);
          const pushed = await subject.foreignPush({ 'a.txt': 'changed\n', 'b.txt': 'b\n' });

          const after = await observeBranch(subject);

          expect(after.commit).toBe(pushed);
          expect(textOf(subject.store.folder(after.commit, '.'))).toEqual({ 'a.txt': 'changed\n', 'b.txt': 'b\n' });
          expect(textOf(subject.store.folder(before.commit, '.'))).toEqual({ 'a.txt': 'a\n' });
        });
      });

      it('an absent branch starts on the default branch', async () => {
        await over({ branch: 'live', files: { 'a.txt': 'a\n' } }, async (subject) => {
          expect(await observe(subject)).toEqual({ kind: 'parent', branch: 'main', commit: await subject.tip('main') });
          expect(await subject.tip('live')).toBeUndefined();
        });
      });

      it('an absent branch starts on the parent it names', async () => {
        await over({ branch: 'live', parent: 'release', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const tip = await subject.foreignPush({ 'r.txt': 'r\n' }, 'release');

          expect(await observe(subject)).toEqual({ kind: 'parent', branch: 'release', commit: tip });
        });
      });

      it('an existing branch no longer follows its parent', async () => {
        await over({ branch: 'live', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const tip = await subject.foreignPush({ 'l.txt': 'l\n' }, 'live');

          expect(await observe(subject)).toEqual({ kind: 'branch', commit: tip });
        });
      });

      it('refuses a named parent that does not exist: ParentBranchNotFound', async () => {
        await over({ branch: 'live', parent: 'nowhere', files: { 'a.txt': 'a\n' } }, async (subject) => {
          expect(await reasonOf(observe(subject))).toBe('ParentBranchNotFound');
        });
      });

      it('the default branch of an empty repository starts at a root', async () => {
        await over({ branch: 'main' }, async (subject) => {
          expect(await observe(subject)).toEqual({ kind: 'root' });
        });
      });

      it('another branch of an empty repository has nothing to start on: ParentBranchUnborn', async () => {
        await over({ branch: 'live' }, async (subject) => {
          expect(await reasonOf(observe(subject))).toBe('ParentBranchUnborn');
        });
      });

      it('an unrelated root is made when the branch names itself as its parent', async () => {
        await over({ branch: 'live', parent: 'live' }, async (subject) => {
          expect(await observe(subject)).toEqual({ kind: 'root' });
        });
      });

      it('finds its way again after what it knew was declared wrong', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const before = await observe(subject);
          subject.store.distrust();

          expect(await observe(subject)).toEqual(before);
        });
      });

      it('an aborted observation ends promptly, and the next one works', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const aborted = subject.store.observe(AbortSignal.abort()).then(
            () => 'answered',
            () => 'aborted',
          );

          expect(await within(aborted, 'the end of an aborted observation', 1_000)).toBe('aborted');
          expect((await observe(subject)).kind).toBe('branch');
        });
      });
    });

    describe('what a folder holds', () => {
      const files = {
        'a.txt': 'root\n',
        'app/x.yaml': 'x: 1\n',
        'app/deep/er/y.yaml': 'y: 1\n',
        'app.yaml': 'z: 1\n',
        app0: '0\n',
        'other/o.yaml': '',
      };

      it('lists every file below it, in path order, relative to it', async () => {
        await over({ branch: 'main', files }, async (subject) => {
          const { commit } = await observeBranch(subject);

          expect([...subject.store.folder(commit, '.').files()].map(({ path }) => path)).toEqual([
            'a.txt',
            'app.yaml',
            'app/deep/er/y.yaml',
            'app/x.yaml',
            'app0',
            'other/o.yaml',
          ]);
          expect(textOf(subject.store.folder(commit, 'app'))).toEqual({
            'deep/er/y.yaml': 'y: 1\n',
            'x.yaml': 'x: 1\n',
          });
          expect(subject.store.folder(commit, 'app').path).toBe('app');
        });
      });

      it('finds one file without a walk, and nothing where there is none', async () => {
        await over({ branch: 'main', files }, async (subject) => {
          const folder = subject.store.folder((await observeBranch(subject)).commit, 'app');

          expect(toText(folder.file('deep/er/y.yaml')?.read() ?? new Uint8Array())).toBe('y: 1\n');
          expect([folder.file('deep'), folder.file('nothing'), folder.file('deep/er/y.yaml/x')]).toEqual([
            undefined,
            undefined,
            undefined,
          ]);
        });
      });

      it('is empty where there is no folder, and before any commit', async () => {
        await over({ branch: 'main', files }, async (subject) => {
          const { commit } = await observeBranch(subject);
          const views = [subject.store.folder(commit, 'nowhere/at/all'), subject.store.folder(undefined, 'app')];

          expect(views.map((view) => [view.treeId, [...view.files()].length])).toEqual([
            ['', 0],
            ['', 0],
          ]);
        });
      });

      it('has an equal id exactly when it holds the same', async () => {
        await over({ branch: 'main', files }, async (subject) => {
          const before = (await observeBranch(subject)).commit;
          await subject.foreignPush({ 'other/o.yaml': 'changed\n' });
          const after = (await observeBranch(subject)).commit;
          const id = (commit: CommitSha, path: string): string => subject.store.folder(commit, path).treeId;

          expect(id(after, 'app')).toBe(id(before, 'app'));
          expect(id(after, 'other')).not.toBe(id(before, 'other'));
          expect(id(after, '.')).not.toBe(id(before, '.'));
        });
      });

      it('gives equal content equal ids', async () => {
        await over({ branch: 'main', files: { a: 'same\n', b: 'same\n', c: 'other\n' } }, async (subject) => {
          const folder = subject.store.folder((await observeBranch(subject)).commit, '.');

          expect(folder.file('a')?.oid).toBe(folder.file('b')?.oid);
          expect(folder.file('a')?.oid).not.toBe(folder.file('c')?.oid);
        });
      });
    });

    describe('making commits', () => {
      it('makes one that changes, adds and removes, and sends nothing by itself', async () => {
        await over(
          { branch: 'main', files: { 'keep.txt': 'k\n', 'dir/gone.txt': 'g\n', 'dir/change.txt': '1\n' } },
          async (subject) => {
            const base = await observeBranch(subject);

            const made = await committed(subject, base.commit, {
              'dir/gone.txt': undefined,
              'dir/change.txt': '2\n',
              'new/deep/file.txt': 'n\n',
            });

            expect(textOf(subject.store.folder(made, '.'))).toEqual({
              'dir/change.txt': '2\n',
              'keep.txt': 'k\n',
              'new/deep/file.txt': 'n\n',
            });
            expect(await subject.tip('main')).toBe(base.commit);
          },
        );
      });

      it('removes a folder with its last file', async () => {
        await over({ branch: 'main', files: { 'keep.txt': 'k\n', 'a/b/c.txt': 'c\n' } }, async (subject) => {
          const base = await observeBranch(subject);
          const made = await committed(subject, base.commit, { 'a/b/c.txt': undefined });
          await subject.store.publish(base, made, never);

          expect(subject.store.folder(made, 'a').treeId).toBe('');
          expect(await subject.files('main')).toEqual({ 'keep.txt': 'k\n' });
        });
      });

      it('makes none when no byte changes, unless an empty one is asked for', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const { commit } = await observeBranch(subject);
          const same = draft(commit, { 'a.txt': 'a\n', 'never-there.txt': undefined });

          expect(await subject.store.commit(same)).toEqual({ kind: 'unchanged' });
          expect((await subject.store.commit({ ...same, allowEmpty: true })).kind).toBe('committed');
        });
      });

      it('makes the same commit from the same draft', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const { commit } = await observeBranch(subject);

          expect(await committed(subject, commit, { 'b.txt': 'b\n' })).toBe(
            await committed(subject, commit, { 'b.txt': 'b\n' }),
          );
        });
      });

      it('records authors, whole seconds, and the message as it is', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const base = await observeBranch(subject);
          const message = 'feat: größer ✓\n\nA body.\n\nTrailer: yes\n';
          const made = await subject.store.commit({
            ...draft(base.commit, { 'a.txt': 'b\n' }),
            author: { ...ALICE, name: 'Ålice Ø', at: new Date(ALICE.at.getTime() + 999) },
            message,
          });
          if (made.kind === 'committed') await subject.store.publish(base, made.commit, never);

          const [newest] = await subject.log('main');

          expect(newest).toEqual({
            commit: await subject.tip('main'),
            parents: [base.commit],
            author: { ...ALICE, name: 'Ålice Ø' },
            committer: BOT,
            message,
          });
        });
      });

      it('leaves an executable file executable', async () => {
        await over({ branch: 'main', files: { 'run.sh': 'one\n' }, executables: ['run.sh'] }, async (subject) => {
          const base = await observeBranch(subject);
          const made = await committed(subject, base.commit, { 'run.sh': 'two\n', 'plain.txt': 'p\n' });

          const folder = subject.store.folder(made, '.');

          expect([folder.file('run.sh')?.mode, folder.file('plain.txt')?.mode]).toEqual(['executable', 'file']);
        });
      });

      it('writes bytes as they are, text or not', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const { commit } = await observeBranch(subject);
          const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
          const made = await subject.store.commit({ ...draft(commit, {}), changes: new Map([['blob.bin', bytes]]) });

          const file = made.kind === 'committed' ? subject.store.folder(made.commit, '.').file('blob.bin') : undefined;

          expect(file === undefined ? -1 : Buffer.compare(file.read(), bytes)).toBe(0);
        });
      });
    });

    describe('publishing', () => {
      it('moves the branch over several commits at once', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const base = await observeBranch(subject);
          const first = await committed(subject, base.commit, { 'b.txt': 'b\n' }, 'first\n');
          const second = await committed(subject, first, { 'c/c.txt': 'c\n' }, 'second\n');

          const outcome = await subject.store.publish(base, second, never);

          expect(outcome).toEqual({ kind: 'published', commit: second });
          expect(await subject.files('main')).toEqual({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c/c.txt': 'c\n' });
          expect((await subject.log('main')).map(({ commit, message }) => [commit, message]).slice(0, 2)).toEqual([
            [second, 'second\n'],
            [first, 'first\n'],
          ]);
          expect(await observe(subject)).toEqual({ kind: 'branch', commit: second });
        });
      });

      it('publishes again and again on its own commits', async () => {
        await over({ branch: 'main', files: { 'a.txt': '0\n' } }, async (subject) => {
          let base: Base & { readonly kind: 'branch' } = await observeBranch(subject);
          for (const text of ['1\n', '2\n', '3\n']) {
            const commit = await committed(subject, base.commit, { 'a.txt': text });
            expect((await subject.store.publish(base, commit, never)).kind).toBe('published');
            base = { kind: 'branch', commit };
          }

          expect([await subject.files('main'), (await subject.log('main')).length]).toEqual([{ 'a.txt': '3\n' }, 4]);
        });
      });

      it('creates an absent branch on its parent and leaves the parent alone', async () => {
        await over({ branch: 'live', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const base = await observe(subject);
          const parent = await subject.tip('main');
          const made = await committed(subject, parent, { 'b.txt': 'b\n' });

          expect(await subject.store.publish(base, made, never)).toEqual({ kind: 'published', commit: made });
          expect([await subject.tip('live'), await subject.tip('main')]).toEqual([made, parent]);
        });
      });

      it('makes the first commit of an empty repository', async () => {
        await over({ branch: 'main' }, async (subject) => {
          const base = await observe(subject);
          const made = await committed(subject, undefined, { 'a/b.txt': 'b\n' });

          expect(await subject.store.publish(base, made, never)).toEqual({ kind: 'published', commit: made });
          expect([await subject.files('main'), (await subject.log('main')).map(({ parents }) => parents)]).toEqual([
            { 'a/b.txt': 'b\n' },
            [[]],
          ]);
        });
      });

      it('never overwrites a foreign push: it says that the branch moved, and a replay keeps both', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const base = await observeBranch(subject);
          const made = await committed(subject, base.commit, { 'ours.txt': 'ours\n' });
          const theirs = await subject.foreignPush({ 'theirs.txt': 'theirs\n' });

          expect(await subject.store.publish(base, made, never)).toEqual({ kind: 'moved', what: 'branch' });
          expect(await subject.tip('main')).toBe(theirs);

          const again = await observeBranch(subject);
          const replayed = await committed(subject, again.commit, { 'ours.txt': 'ours\n' });
          expect((await subject.store.publish(again, replayed, never)).kind).toBe('published');
          expect(await subject.files('main')).toEqual({
            'a.txt': 'a\n',
            'ours.txt': 'ours\n',
            'theirs.txt': 'theirs\n',
          });
        });
      });

      it('says so when somebody created the branch first', async () => {
        await over({ branch: 'live', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const base = await observe(subject);
          const made = await committed(subject, await subject.tip('main'), { 'b.txt': 'b\n' });
          const theirs = await subject.foreignPush({ 'l.txt': 'l\n' }, 'live');

          expect(await subject.store.publish(base, made, never)).toEqual({ kind: 'moved', what: 'branch' });
          expect(await subject.tip('live')).toBe(theirs);
        });
      });

      it('says so when the parent moved before the first push', async () => {
        await over({ branch: 'live', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const base = await observe(subject);
          const made = await committed(subject, await subject.tip('main'), { 'b.txt': 'b\n' });
          await subject.foreignPush({ 'm.txt': 'm\n' }, 'main');

          expect(await subject.store.publish(base, made, never)).toEqual({ kind: 'moved', what: 'parent' });
          expect(await subject.tip('live')).toBeUndefined();
        });
      });

      it('says so when the branch was deleted, and starts on its parent again', async () => {
        await over({ branch: 'live', files: { 'a.txt': 'a\n' } }, async (subject) => {
          await subject.foreignPush({ 'l.txt': 'l\n' }, 'live');
          const base = await observeBranch(subject);
          const made = await committed(subject, base.commit, { 'b.txt': 'b\n' });
          await subject.deleteBranch('live');

          expect(await subject.store.publish(base, made, never)).toEqual({ kind: 'moved', what: 'deleted' });
          expect(await observe(subject)).toEqual({ kind: 'parent', branch: 'main', commit: await subject.tip('main') });
          expect(await subject.tip('live')).toBeUndefined();
        });
      });

      it('finds what it sent already there', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const base = await observeBranch(subject);
          const made = await committed(subject, base.commit, { 'b.txt': 'b\n' });
          await subject.store.publish(base, made, never);

          expect(await subject.store.publish(base, made, never)).toEqual({ kind: 'already-there', commit: made });
        });
      });

      it('after a lost answer: an error that asks to try again, then already there', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          if (subject.cutNextPublishAfterLanding === undefined) return;
          const base = await observeBranch(subject);
          const made = await committed(subject, base.commit, { 'b.txt': 'b\n' });
          subject.cutNextPublishAfterLanding();

          const error: unknown = await subject.store.publish(base, made, never).catch((thrown: unknown) => thrown);

          expect(error).toMatchObject({ reason: 'RemoteUnavailable', retry: 'backoff' });
          expect(await observe(subject)).toEqual({ kind: 'branch', commit: made });
          expect(await subject.store.publish(base, made, never)).toEqual({ kind: 'already-there', commit: made });
        });
      });

      it('after a connection cut before anything arrived: an error, nothing changed, and the same publish works', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          if (subject.cutNextPublishBeforeLanding === undefined) return;
          const base = await observeBranch(subject);
          const made = await committed(subject, base.commit, { 'b.txt': 'b\n' });
          subject.cutNextPublishBeforeLanding();

          const error: unknown = await subject.store.publish(base, made, never).catch((thrown: unknown) => thrown);

          expect(error).toMatchObject({ reason: 'RemoteUnavailable', retry: 'backoff' });
          expect(await subject.tip('main')).toBe(base.commit);
          expect((await subject.store.publish(base, made, never)).kind).toBe('published');
        });
      });

      it('an aborted publish ends promptly, and nothing was half done', async () => {
        await over({ branch: 'main', files: { 'a.txt': 'a\n' } }, async (subject) => {
          const base = await observeBranch(subject);
          const made = await committed(subject, base.commit, { 'b.txt': 'b\n' });

          const ended = await within(
            subject.store.publish(base, made, AbortSignal.abort()).then(
              () => 'answered',
              () => 'aborted',
            ),
            'the end of an aborted publish',
            1_000,
          );

          expect(ended).toBe('aborted');
          expect(await subject.tip('main')).toBe(base.commit);
        });
      });
    });

    it('carries many files in many folders, sorted as Git sorts them', async () => {
      const files: Record<string, string> = {};
      for (let at = 0; at < 60; at += 1) files[`n${at % 7}/k${at % 3}/f-${at}.yaml`] = `n: ${at}\n`;
      for (const path of ['z', 'n0.yaml', 'n0-x/a', 'n0/k0.yaml', 'ä/ö.yaml']) files[path] = `${path}\n`;
      await over({ branch: 'main' }, async (subject) => {
        const base = await observe(subject);
        const made = await committed(subject, undefined, files);
        await subject.store.publish(base, made, never);

        expect(await subject.files('main')).toEqual(files);
        const listed = [...subject.store.folder(made, '.').files()].map(({ path }) => path);
        expect(listed).toEqual(Object.keys(files).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
      });
    });
  });
}

function draft(
  parent: CommitSha | undefined,
  files: Readonly<Record<string, string | undefined>>,
  message = 'a change\n',
): CommitDraft {
  const changes = new Map(
    Object.entries(files).map(([path, text]) => [path, text === undefined ? undefined : toBytes(text)]),
  );
  return { parent, changes, author: ALICE, committer: BOT, message };
}

async function committed(
  { store }: BranchStoreUnderTest,
  parent: CommitSha | undefined,
  files: Readonly<Record<string, string | undefined>>,
  message?: string,
): Promise<CommitSha> {
  const result = await store.commit(draft(parent, files, message));
  if (result.kind !== 'committed') throw new Error('expected a commit, found nothing to change');
  return result.commit;
}

function textOf(folder: FolderView): Readonly<Record<string, string>> {
  return Object.fromEntries([...folder.files()].map((file) => [file.path, toText(file.read())]));
}
