import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@gitops-reverser/kernel-api';
import { gitError } from '../errors.js';
import { isOid, type Oid } from '../objects/oid.js';
import { FileBytes, MemoryBytes, type PackBytes } from '../objects/pack-bytes.js';
import { PACK_TRAILER_BYTES } from '../objects/pack-entry.js';
import { PackFile } from '../objects/pack-file.js';
import { PackIndex } from '../objects/pack-index.js';

/** Above this a pack stays on disk and is read from there. */
const MEMORY_PACK_BYTES = 32 * 1024 * 1024;

export interface Remembered {
  /** Commits held whole, the newest first. */
  readonly roots: readonly Oid[];
}

/** Folders this process holds; the lock file alone cannot tell one store from another in here. */
const openFolders = new Set<string>();

/**
 * A bare repository on ephemeral disk that a stock git can read: packs with their indexes, one ref, the shallow boundary. It is a
 * cache: whatever is wrong in it is thrown away and fetched again. One owner per folder.
 */
export class DiskCache {
  readonly #folder: string;
  readonly #logger: Logger;
  #writing: Promise<void> = Promise.resolve();

  private constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** One folder per repository and branch below `cacheDir`. */
  static folderOf(cacheDir: string, url: string, branch: string): string {
    const digest = createHash('sha256').update(`${url}\0${branch}`).digest('hex').slice(0, 24);
    const readable = url
      .replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/@]*@/i, '')
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(-40);
    return join(cacheDir, `${readable}-${digest}.git`);
  }

  /** @throws ReverserError CacheUnavailable when the folder cannot be made or another process holds it */
  static open(folder: string, logger: Logger): DiskCache {
    try {
      for (const below of ['objects/pack', 'objects/info', 'refs/heads'])
        mkdirSync(join(folder, below), { recursive: true, mode: 0o700 });
      lock(folder);
      writeFileSync(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n');
    } catch (error) {
      if (error instanceof Error && 'reason' in error) throw error;
      throw gitError(
        'CacheUnavailable',
        `the git cache folder ${folder} cannot be used: ${error instanceof Error ? error.message : String(error)}; check --git-cache-dir and the space on it`,
      );
    }
    return new DiskCache(folder, logger);
  }

  get folder(): string {
    return this.#folder;
  }

  /** What an earlier process left; damaged packs are removed. */
  load(): { readonly packs: readonly PackFile[]; readonly remembered: Remembered } {
    const packDir = join(this.#folder, 'objects/pack');
    const packs: PackFile[] = [];
    for (const name of readdirSync(packDir)) {
      const path = join(packDir, name);
      if (name.startsWith('tmp-')) rmSync(path, { force: true });
      const base = /^(pack-[0-9a-f]{40})\.pack$/.exec(name)?.[1];
      if (base === undefined) continue;
      try {
        packs.push(openPack(path, join(packDir, `${base}.idx`)));
      } catch (error) {
        this.#logger.warn(
          { path, err: error instanceof Error ? error.message : String(error) },
          'damaged pack removed from the git cache',
        );
        rmSync(path, { force: true });
        rmSync(join(packDir, `${base}.idx`), { force: true });
      }
    }
    return { packs, remembered: { roots: readRoots(this.#folder) } };
  }

  /** Where a pack that is being received may grow. */
  createTemporary(): FileBytes {
    return FileBytes.create(join(this.#folder, 'objects/pack', `tmp-${process.pid}-${performance.now()}`));
  }

  /** Makes what was received permanent and returns the bytes to read it from. */
  adopt(temporary: FileBytes): PackBytes {
    const checksum = temporary.slice(temporary.length - PACK_TRAILER_BYTES, PACK_TRAILER_BYTES).toString('hex');
    const path = this.#packPath(checksum);
    temporary.sync();
    renameSync(temporary.path, path);
    if (temporary.length > MEMORY_PACK_BYTES) return temporary;
    const bytes = readFileSync(path);
    temporary.close();
    return new MemoryBytes(bytes);
  }

  discard(temporary: FileBytes): void {
    temporary.close();
    rmSync(temporary.path, { force: true });
  }

  /** Writes in the background, in the order asked for; a failure costs a fetch after the next start and is logged. */
  save(packs: readonly PackFile[], branch: string, roots: readonly Oid[], gone: readonly PackFile[] = []): void {
    const removed = gone.map(({ name }) => name);
    this.#writing = this.#writing
      .then(async () => {
        for (const pack of packs) await this.#writePack(pack);
        this.#writeRoots(branch, roots);
        for (const name of removed)
          for (const path of [this.#packPath(name).replace(/pack$/, 'idx'), this.#packPath(name)])
            rmSync(path, { force: true });
      })
      .catch((error: unknown) =>
        this.#logger.warn(
          { path: this.#folder, err: error instanceof Error ? error.message : String(error) },
          'git cache not written',
        ),
      );
  }

  async flush(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.#writing;
    rmSync(join(this.#folder, LOCK_NAME), { force: true });
    openFolders.delete(this.#folder);
  }

  async #writePack(pack: PackFile): Promise<void> {
    const path = this.#packPath(pack.name);
    const checksum = Buffer.from(pack.name, 'hex');
    if (statSync(path, { throwIfNoEntry: false })?.size !== pack.bytes.length)
      await writeWhole(path, pack.bytes.slice(0, pack.bytes.length));
    await writeWhole(path.replace(/pack$/, 'idx'), pack.index.encode(checksum));
  }

  /** The boundary of old and new first, then the ref: at no moment does a ref need a commit that is not there. */
  #writeRoots(branch: string, roots: readonly Oid[]): void {
    const before = readRoots(this.#folder);
    const boundary = [...new Set([...roots, ...before])].sort();
    replaceFile(join(this.#folder, 'shallow'), boundary.map((oid) => `${oid}\n`).join(''));
    const ref = `refs/heads/${branch}`;
    const [tip] = roots;
    replaceFile(
      join(this.#folder, 'packed-refs'),
      `# pack-refs with: peeled fully-peeled sorted \n${tip === undefined ? '' : `${tip} ${ref}\n`}`,
    );
    replaceFile(join(this.#folder, 'HEAD'), `ref: ${ref}\n`);
    replaceFile(
      join(this.#folder, 'shallow'),
      [...roots]
        .sort()
        .map((oid) => `${oid}\n`)
        .join(''),
    );
  }

  #packPath(name: string): string {
    return join(this.#folder, 'objects/pack', `pack-${name}.pack`);
  }
}

function openPack(path: string, indexPath: string): PackFile {
  const { size } = statSync(path);
  const file = FileBytes.open(path, size);
  const checksum = file.slice(size - PACK_TRAILER_BYTES, PACK_TRAILER_BYTES);
  const index = PackIndex.parse(readFileSync(indexPath), checksum);
  if (size > MEMORY_PACK_BYTES) return new PackFile(file, index);
  file.close();
  return new PackFile(new MemoryBytes(readFileSync(path)), index);
}

/** The newest root is the ref; the others stand in the boundary only. */
function readRoots(folder: string): readonly Oid[] {
  const read = (name: string): string[] => {
    try {
      return readFileSync(join(folder, name), 'latin1').split('\n');
    } catch {
      return [];
    }
  };
  const tips = read('packed-refs')
    .map((line) => line.split(' ', 1)[0] ?? '')
    .filter(isOid);
  return [...new Set([...tips, ...read('shallow').filter(isOid)])];
}

function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  renameSync(temporary, path);
}

const LOCK_NAME = 'gitops-reverser.lock';

/** A lock of a dead process is taken over; a container's processes have few numbers, so the host's name stands beside it. */
function lock(folder: string): void {
  if (openFolders.has(folder)) throw held(folder, 'another branch store of this process');
  const path = join(folder, LOCK_NAME);
  const mine = `${process.pid} ${hostname()}\n`;
  try {
    writeFileSync(path, mine, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const [pid = '', host = ''] = readFileSync(path, 'utf8').trim().split(' ');
    if (host === hostname() && Number(pid) !== process.pid && isAlive(Number(pid)))
      throw held(folder, `process ${pid}`);
    writeFileSync(path, mine);
  }
  openFolders.add(folder);
}

const held = (folder: string, owner: string): Error =>
  gitError(
    'CacheUnavailable',
    `the git cache folder ${folder} is held by ${owner}; one branch of one repository has one owner, so give each operator its own --git-cache-dir`,
  );

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
