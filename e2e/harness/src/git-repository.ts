import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { git, tryGit } from './git-command.js';

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** A file's content; `null` removes the file. The long form sets a mode: an executable, a symbolic link, a submodule. */
export type FileEdit =
  | string
  | Buffer
  | null
  | { readonly mode: '100644' | '100755' | '120000'; readonly content: string | Buffer }
  | { readonly mode: '160000'; readonly commit: string };

export type FileEdits = Readonly<Record<string, FileEdit>>;

export interface CommitOptions {
  readonly author?: Person;
  readonly committer?: Person;
  readonly message?: string;
  readonly date?: Date;
  /** Branch the new one starts from when it does not exist yet; default: none, a root commit. */
  readonly from?: string;
  /** Starts the branch anew from `parent` (or nothing) and pushes with force. */
  readonly rewrite?: { readonly parent?: string };
  /** Pushes to this URL instead of the repository's folder: then it is in the host's request log. */
  readonly via?: string;
}

export interface LoggedCommit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly author: Person & { readonly date: string };
  readonly committer: Person & { readonly date: string };
  readonly subject: string;
  readonly body: string;
  /** Paths this commit touched against its first parent, with git's letter: `A`, `M`, `D`, `T`. */
  readonly files: readonly { readonly change: string; readonly path: string }[];
}

/** One accepted ref update, stamped by the remote itself right after the ref became visible. */
export interface RefStamp {
  /** Nanoseconds since the epoch. */
  readonly at: bigint;
  readonly oldOid: string;
  readonly newOid: string;
  readonly ref: string;
}

export type HookName = 'pre-receive' | 'update' | 'post-receive' | 'reference-transaction';

const stranger: Person = { name: 'Fern Foreign', email: 'fern@example.com' };

/** A bare repository on disk and what the stock git CLI says about it: the oracle of tests. */
export class GitRepository {
  readonly name: string;
  /** The bare repository's folder. */
  readonly dir: string;
  /** Where strangers make their commits before they push them. */
  readonly #workshop: string;

  constructor(name: string, dir: string) {
    this.name = name;
    this.dir = dir;
    this.#workshop = `${dir.replace(/\.git$/, '')}.workshop.git`;
  }

  /** Runs git on the bare repository and gives its standard output. */
  git(...args: readonly string[]): Promise<string> {
    return git(['--git-dir', this.dir, ...args]);
  }

  /** The commit a branch points at; `undefined` when there is no such branch. */
  async head(branch: string): Promise<string | undefined> {
    return (await this.resolve(`refs/heads/${branch}`))?.trim();
  }

  async resolve(revision: string): Promise<string | undefined> {
    const { exit, stdout } = await tryGit([
      '--git-dir',
      this.dir,
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      revision,
    ]);
    return exit.code === 0 ? stdout.toString().trim() : undefined;
  }

  async branches(): Promise<Readonly<Record<string, string>>> {
    const lines = (await this.git('for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads'))
      .split('\n')
      .filter(Boolean);
    return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]));
  }

  /** Commits of a branch, newest first; empty when the branch does not exist. */
  async log(
    branch: string,
    range: { readonly since?: string; readonly limit?: number } = {},
  ): Promise<readonly LoggedCommit[]> {
    if ((await this.head(branch)) === undefined) return [];
    const revisions = range.since === undefined ? `refs/heads/${branch}` : `${range.since}..refs/heads/${branch}`;
    const format = '%x1e%H%x1f%P%x1f%an%x1f%ae%x1f%aI%x1f%cn%x1f%ce%x1f%cI%x1f%s%x1f%b%x1f';
    const limit = range.limit === undefined ? [] : [`--max-count=${range.limit}`];
    const text = await this.git(
      'log',
      '-z',
      '--name-status',
      '--no-renames',
      '--diff-merges=first-parent',
      `--format=${format}`,
      ...limit,
      revisions,
      '--',
    );
    return text.split('\x1e').slice(1).map(parseCommit);
  }

  /**
   * What changed from one commit to another, byte for byte: for each file its path, then the lines it lost and the lines it got,
   * with git's signs. Whatever is not in it is as before.
   */
  async diff(commit: string, since = `${commit}^`): Promise<string> {
    const flags = ['-U0', '--no-color', '--no-renames', '--no-ext-diff', '--no-textconv'];
    const shown = await this.git('-c', 'core.quotePath=false', 'diff', ...flags, since, commit, '--');
    return shown
      .split(/^diff --git .*\n/m)
      .slice(1)
      .map((file) => {
        const hunks = file.search(/^@@/m);
        const head = hunks < 0 ? file : file.slice(0, hunks);
        const path = /^\+\+\+ b\/(.*?)\t?$/m.exec(head)?.[1] ?? /^--- a\/(.*?)\t?$/m.exec(head)?.[1] ?? head.trim();
        const lines = hunks < 0 ? '' : file.slice(hunks).replaceAll(/^@@.*\n/gm, '');
        return `${path}\n${lines}`;
      })
      .join('');
  }

  /** The text of a file at the tip of a branch; `undefined` when branch or file do not exist. */
  async showFile(branch: string, path: string): Promise<string | undefined> {
    const { exit, stdout } = await tryGit(['--git-dir', this.dir, 'cat-file', 'blob', `refs/heads/${branch}:${path}`]);
    return exit.code === 0 ? stdout.toString() : undefined;
  }

  /** Paths of all files of a branch, sorted as git sorts them. */
  async listFiles(branch: string): Promise<readonly string[]> {
    if ((await this.head(branch)) === undefined) return [];
    return (await this.git('ls-tree', '-r', '-z', '--name-only', `refs/heads/${branch}`)).split('\0').filter(Boolean);
  }

  /** Every file of a branch with its text. */
  async readTree(branch: string): Promise<ReadonlyMap<string, string>> {
    const files = new Map<string, string>();
    if ((await this.head(branch)) === undefined) return files;
    const entries = (await this.git('ls-tree', '-r', '-z', `refs/heads/${branch}`)).split('\0').filter(Boolean);
    const named = entries.map((entry) => {
      const [meta = '', path = ''] = entry.split('\t');
      return { oid: meta.split(' ')[2] ?? '', path };
    });
    const { stdout } = await tryGit(['--git-dir', this.dir, 'cat-file', '--batch'], {
      input: named.map(({ oid }) => `${oid}\n`).join(''),
    });
    let at = 0;
    for (const { path } of named) {
      const end = stdout.indexOf(0x0a, at);
      const size = Number(stdout.toString('latin1', at, end).split(' ')[2]);
      files.set(path, stdout.toString('utf8', end + 1, end + 1 + size));
      at = end + 1 + size + 1;
    }
    return files;
  }

  /** @throws Error with git's own words when any object is missing, broken or malformed */
  async fsck(): Promise<void> {
    const { exit, stdout, stderr } = await tryGit([
      '--git-dir',
      this.dir,
      'fsck',
      '--strict',
      '--full',
      '--no-progress',
      '--no-dangling',
    ]);
    const said = `${stdout.toString()}${stderr}`.split('\n').filter((line) => line !== '' && !/^notice: /.test(line));
    if (exit.code !== 0 || said.length > 0)
      throw new Error(`git fsck --strict is not clean in ${this.name} (exit ${exit.code}):\n${said.join('\n')}`);
  }

  /**
   * Commits and pushes as somebody else would with the stock git CLI: hooks run, `old` is compared, and the push fails
   * when the branch moves in between.
   *
   * @returns the new commit
   */
  async commitFiles(branch: string, edits: FileEdits, options: CommitOptions = {}): Promise<string> {
    const {
      author = stranger,
      committer = author,
      message = 'Edit by hand',
      date = new Date(),
      via = this.dir,
    } = options;
    await this.#openWorkshop();
    const parent =
      options.rewrite === undefined
        ? ((await this.head(branch)) ?? (options.from === undefined ? undefined : await this.resolve(options.from)))
        : options.rewrite.parent;
    const scratch = `refs/heads/scratch-${process.pid}-${performance.now()}`;
    const when = `${Math.floor(date.getTime() / 1000)} +0000`;
    const parts: (string | Buffer)[] = [
      `commit ${scratch}\nauthor ${author.name} <${author.email}> ${when}\ncommitter ${committer.name} <${committer.email}> ${when}\n`,
      ...data(message.endsWith('\n') ? message : `${message}\n`),
      parent === undefined ? '' : `from ${parent}\n`,
    ];
    for (const [path, edit] of Object.entries(edits)) {
      if (edit === null) parts.push(`D ${quotePath(path)}\n`);
      else if (typeof edit === 'object' && 'commit' in edit)
        parts.push(`M ${edit.mode} ${edit.commit} ${quotePath(path)}\n`);
      else {
        const { mode, content } =
          typeof edit === 'string' || Buffer.isBuffer(edit) ? { mode: '100644', content: edit } : edit;
        parts.push(`M ${mode} inline ${quotePath(path)}\n`, ...data(content));
      }
    }
    const workshop = ['--git-dir', this.#workshop];
    await git([...workshop, 'fast-import', '--quiet', '--done'], {
      input: Buffer.concat([...parts, 'done\n'].map((part) => Buffer.from(part))),
    });
    const commit = (await git([...workshop, 'rev-parse', scratch])).trim();
    const force = options.rewrite === undefined ? [] : ['--force'];
    await git([...workshop, 'push', '--quiet', ...force, via, `${commit}:refs/heads/${branch}`]);
    await git([...workshop, 'update-ref', '-d', scratch]);
    return commit;
  }

  async deleteBranch(branch: string): Promise<void> {
    await this.#openWorkshop();
    await git(['--git-dir', this.#workshop, 'push', '--quiet', this.dir, `:refs/heads/${branch}`]);
  }

  /** Installs a hook; `body` is a shell script without its first line. Replaces the hook of that name. */
  async installHook(hook: HookName, body: string): Promise<void> {
    const file = join(this.dir, 'hooks', hook);
    await mkdir(join(this.dir, 'hooks'), { recursive: true });
    await writeFile(file, `#!/bin/sh\n${body}\n`);
    await chmod(file, 0o755);
  }

  /** From now on each accepted ref update leaves a line that `refStamps` reads. Takes the post-receive hook. */
  async stampRefs(): Promise<void> {
    await this.installHook(
      'post-receive',
      `at=$(date +%s%N)\nwhile read -r old new ref; do echo "$at $old $new $ref"; done >> '${this.#stampFile}'`,
    );
  }

  async refStamps(): Promise<readonly RefStamp[]> {
    const lines = (await readFile(this.#stampFile, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return lines.map((line) => {
      const [at = '', oldOid = '', newOid = '', ref = ''] = line.split(' ');
      return { at: BigInt(at), oldOid, newOid, ref };
    });
  }

  get #stampFile(): string {
    return join(this.dir, 'ref-stamps');
  }

  async #openWorkshop(): Promise<void> {
    const alternates = join(this.#workshop, 'objects', 'info', 'alternates');
    if ((await readFile(alternates, 'utf8').catch(() => undefined)) !== undefined) return;
    await git(['init', '--quiet', '--bare', this.#workshop]);
    await git(['--git-dir', this.#workshop, 'config', 'gc.auto', '0']);
    await writeFile(alternates, `${join(this.dir, 'objects')}\n`);
  }
}

function data(content: string | Buffer): (string | Buffer)[] {
  const bytes = Buffer.from(content);
  return [`data ${bytes.length}\n`, bytes, '\n'];
}

/** fast-import reads a path up to the end of the line unless it is quoted. */
const quotePath = (path: string): string => `"${path.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;

function parseCommit(record: string): LoggedCommit {
  const fields = record.split('\x1f');
  const [
    sha = '',
    parents = '',
    an = '',
    ae = '',
    ad = '',
    cn = '',
    ce = '',
    cd = '',
    subject = '',
    body = '',
    names = '',
  ] = fields;
  const parts = names
    .split('\0')
    .map((part) => part.replace(/^\n+/, ''))
    .filter(Boolean);
  const files: { change: string; path: string }[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) files.push({ change: parts[i] ?? '', path: parts[i + 1] ?? '' });
  return {
    sha,
    parents: parents.split(' ').filter(Boolean),
    author: { name: an, email: ae, date: ad },
    committer: { name: cn, email: ce, date: cd },
    subject,
    body: body.trimEnd(),
    files,
  };
}

export interface CreateRepositoryOptions {
  readonly defaultBranch?: string;
  /** First commit of the default branch; without it the repository is empty. */
  readonly files?: FileEdits;
  readonly author?: Person;
  readonly message?: string;
  /** Extra git configuration, for instance `uploadpack.allowFilter`. */
  readonly config?: Readonly<Record<string, string>>;
  readonly objectFormat?: 'sha1' | 'sha256';
}

/** Creates a bare repository that anybody who can reach it over HTTP may push to. */
export async function createBareRepository(
  name: string,
  dir: string,
  options: CreateRepositoryOptions = {},
): Promise<GitRepository> {
  const { defaultBranch = 'main', objectFormat = 'sha1' } = options;
  await git(['init', '--quiet', '--bare', `--initial-branch=${defaultBranch}`, `--object-format=${objectFormat}`, dir]);
  // No housekeeping in the background: it would outlive a test and hold its folder.
  const config = { 'http.receivepack': 'true', 'gc.auto': '0', 'receive.autogc': 'false', ...options.config };
  for (const [key, value] of Object.entries(config)) await git(['--git-dir', dir, 'config', key, value]);
  const repository = new GitRepository(name, dir);
  if (options.files !== undefined) {
    const author = options.author ?? { name: 'Sam Seed', email: 'sam@example.com' };
    await repository.commitFiles(defaultBranch, options.files, { author, message: options.message ?? 'Start here' });
  }
  return repository;
}
