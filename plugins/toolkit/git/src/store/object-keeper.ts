import type { Logger } from '@gitops-reverser/kernel-api';
import { gitError } from '../errors.js';
import { Breather } from '../objects/breather.js';
import { parseCommit, type ParsedCommit } from '../objects/commit-object.js';
import { MalformedData } from '../objects/delta.js';
import { ObjectStore } from '../objects/object-store.js';
import { EMPTY_TREE_OID, type Oid } from '../objects/oid.js';
import { FileBytes, MemoryBytes, type PackBytes } from '../objects/pack-bytes.js';
import type { PackFile } from '../objects/pack-file.js';
import { indexPack } from '../objects/pack-indexing.js';
import { buildPack } from '../objects/pack-writer.js';
import { TreeCache } from '../objects/tree-cache.js';
import { kindOf } from '../objects/tree.js';
import type { DiskCache } from './disk-cache.js';

/** How many packs a lookup may have to go through; then what is alive in the small ones becomes one. */
const MAX_PACKS = 20;
/** The base and the one before it: folder views of the last tip outlive a fetch. */
const KEPT_ROOTS = 2;

/** Holds objects in memory and on disk, and knows which commits it holds whole. */
export class ObjectKeeper {
  readonly objects: ObjectStore;
  readonly trees: TreeCache;
  readonly #disk: DiskCache | undefined;
  readonly #branch: string;
  readonly #logger: Logger;
  /** Commits whose whole tree is held, the newest first. */
  #roots: readonly Oid[] = [];
  #tidying: Promise<void> | undefined;

  constructor(options: {
    readonly disk: DiskCache | undefined;
    readonly branch: string;
    readonly cacheBytes: number;
    readonly logger: Logger;
  }) {
    this.objects = new ObjectStore({ cacheBytes: options.cacheBytes, onMissing: () => this.doubt() });
    this.trees = new TreeCache(this.objects);
    this.#disk = options.disk;
    this.#branch = options.branch;
    this.#logger = options.logger;
  }

  /** Takes over what an earlier process left and proves that it is whole. */
  async load(): Promise<void> {
    if (this.#disk === undefined) return;
    const { packs, remembered } = this.#disk.load();
    for (const pack of packs) this.objects.addPack(pack);
    const roots: Oid[] = [];
    for (const root of remembered.roots.slice(0, KEPT_ROOTS)) if (await this.#isWhole(root)) roots.push(root);
    this.#roots = roots;
  }

  get roots(): readonly Oid[] {
    return this.#roots;
  }

  holds(commit: Oid): boolean {
    return this.#roots.includes(commit);
  }

  /** Stops believing that anything is held whole: the next fetch brings everything. What is being read stays readable. */
  doubt(): void {
    this.#roots = [];
  }

  commit(oid: Oid): ParsedCommit {
    const data = this.objects.read(oid, 'commit');
    try {
      return parseCommit(oid, data);
    } catch (error) {
      throw error instanceof MalformedData
        ? gitError('ObjectMissing', `${error.message}; the repository is damaged`, { oid })
        : error;
    }
  }

  /**
   * Takes in a fetched pack that makes `commit` whole.
   *
   * @throws MalformedData when it is damaged or leans on what is not here; ReverserError ObjectMissing when the commit is not in it
   */
  async receive(commit: Oid, chunks: AsyncIterable<Buffer>): Promise<void> {
    const bytes: PackBytes = this.#disk?.createTemporary() ?? new MemoryBytes();
    const added: PackFile[] = [];
    try {
      for await (const chunk of chunks) bytes.append(chunk);
      const pack = bytes.length === 0 ? undefined : await indexPack(bytes, (oid) => this.objects.find(oid));
      if (pack === undefined || pack.index.count === 0) this.#discard(bytes);
      else added.push(this.#adopt(pack));
    } catch (error) {
      this.#discard(bytes);
      throw error;
    }
    for (const pack of added) this.objects.addPack(pack);
    this.trees.load(this.commit(commit).tree);
    this.#hold(commit, added);
  }

  /** Takes over the pack of an accepted push; its objects need no other place. */
  published(head: Oid, pack: PackFile): void {
    this.objects.addPack(pack);
    this.#hold(head, [pack]);
  }

  async close(): Promise<void> {
    await this.#tidying;
    await this.#disk?.close();
    this.trees.clear();
    this.objects.clear();
  }

  /** Everything asked for so far is on disk, and no tidying is under way. */
  async settled(): Promise<void> {
    await this.#tidying;
    await this.#disk?.flush();
  }

  #hold(commit: Oid, packs: readonly PackFile[]): void {
    this.#roots = [commit, ...this.#roots.filter((oid) => oid !== commit)].slice(0, KEPT_ROOTS);
    this.#disk?.save(packs, this.#branch, this.#roots);
    if (this.objects.packs.length > MAX_PACKS && this.#tidying === undefined) {
      this.#tidying = this.#tidy()
        .catch((error: unknown) =>
          this.#logger.warn(
            { branch: this.#branch, err: error instanceof Error ? error.message : String(error) },
            'git cache not tidied',
          ),
        )
        .finally(() => (this.#tidying = undefined));
    }
  }

  /** Joins what is still reachable in all packs but a large, mostly living one. */
  async #tidy(): Promise<void> {
    const before = this.objects.packs;
    const alive = new Set<Oid>();
    for (const root of this.#roots) await this.#walk(root, (oid) => alive.add(oid));
    const breather = new Breather();
    const gone = new Set<PackFile>();
    for (const pack of before) {
      let living = 0;
      for (const { oid } of pack.index.entries()) if (alive.has(oid)) living += 1;
      const isWorthKeeping = pack.index.count >= 1000 && living > pack.index.count / 2;
      if (!isWorthKeeping) gone.add(pack);
      if (breather.isDue) await breather.breathe();
    }
    const kept = before.filter((pack) => !gone.has(pack));
    const moved: { readonly oid: Oid; readonly entry: Uint8Array }[] = [];
    for (const oid of alive) {
      if (
        kept.some((pack) => pack.index.offsetOf(oid) !== undefined) ||
        !before.some((pack) => pack.index.offsetOf(oid) !== undefined)
      )
        continue;
      moved.push(this.objects.encoded(oid));
      if (breather.isDue) await breather.breathe();
    }
    const joined = moved.length === 0 ? [] : [buildPack(moved).pack];
    // A pack that came meanwhile is in neither list and stays.
    this.objects.replacePacks(gone, joined);
    const left = new Set(this.objects.packs.map(({ name }) => name));
    this.#disk?.save(
      joined,
      this.#branch,
      this.#roots,
      [...gone].filter(({ name }) => !left.has(name)),
    );
  }

  async #isWhole(root: Oid): Promise<boolean> {
    try {
      await this.#walk(root, (oid, isBlob) => {
        if (isBlob && !this.objects.has(oid)) throw gitError('ObjectMissing', `blob ${oid} is not in the cache`);
      });
      return true;
    } catch {
      return false;
    }
  }

  async #walk(root: Oid, visit: (oid: Oid, isBlob: boolean) => void): Promise<void> {
    const breather = new Breather();
    const { tree } = this.commit(root);
    visit(root, false);
    const seen = new Set<Oid>();
    const waiting = [tree];
    for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
      if (seen.has(oid)) continue;
      seen.add(oid);
      if (oid !== EMPTY_TREE_OID || this.objects.has(oid)) visit(oid, false);
      for (const entry of this.trees.load(oid).entries) {
        const kind = kindOf(entry.mode);
        if (kind === 'directory') waiting.push(entry.oid);
        else if (kind !== 'submodule') visit(entry.oid, true);
      }
      if (breather.isDue) await breather.breathe();
    }
  }

  #adopt(pack: PackFile): PackFile {
    return this.#disk !== undefined && pack.bytes instanceof FileBytes
      ? pack.movedTo(this.#disk.adopt(pack.bytes))
      : pack;
  }

  #discard(bytes: PackBytes): void {
    if (bytes instanceof FileBytes) this.#disk?.discard(bytes);
    else bytes.close();
  }
}
