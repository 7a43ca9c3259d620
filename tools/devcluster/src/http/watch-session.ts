import type { ServerResponse } from 'node:http';
import type { ResourceType } from '../resources/resource-type.js';
import type { Collection } from '../store/collection.js';
import { type Change, type ChangeType, Entry } from '../store/entry.js';
import type { ApiError } from '../status.js';
import { stringifyJson } from '../json.js';

/** What one watch is about and how its events are written. */
export interface WatchPlan {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly user: string;
  readonly collection: Collection;
  readonly matches: (entry: Entry) => boolean;
  readonly line: (type: ChangeType, entry: Entry) => Buffer;
  readonly bookmarkLine: (version: number, isEnd: boolean) => Buffer;
}

// A watcher that does not read is cut off, as the API server does, before its backlog fills our memory.
const backlogLimitBytes = 256 * 1024 * 1024;
const chunkBytes = 256 * 1024;

/** One open watch stream. */
export class WatchSession {
  readonly #plan: WatchPlan;
  readonly #response: ServerResponse;
  readonly #onClose: (session: WatchSession) => void;
  #unsubscribe: (() => void) | undefined;
  #timers: NodeJS.Timeout[] = [];
  #state: 'open' | 'stalled' | 'closed' = 'open';

  constructor(plan: WatchPlan, response: ServerResponse, onClose: (session: WatchSession) => void) {
    this.#plan = plan;
    this.#response = response;
    this.#onClose = onClose;
    response.once('close', () => this.#finish());
  }

  get type(): ResourceType {
    return this.#plan.type;
  }
  get namespace(): string | undefined {
    return this.#plan.namespace;
  }
  get user(): string {
    return this.#plan.user;
  }
  get isOpen(): boolean {
    return this.#state !== 'closed';
  }

  /** ADDED for everything there is. */
  sendInitial(): void {
    let batch: Buffer[] = [];
    let bytes = 0;
    for (const entry of this.#plan.collection.entries()) {
      if (!this.#plan.matches(entry)) continue;
      const line = this.#plan.line('ADDED', entry);
      batch.push(line);
      bytes += line.length;
      if (bytes >= chunkBytes) {
        this.#write(Buffer.concat(batch));
        batch = [];
        bytes = 0;
      }
    }
    if (batch.length > 0) this.#write(Buffer.concat(batch));
  }

  sendBookmark(version: number, isEnd = false): void {
    this.#write(this.#plan.bookmarkLine(version, isEnd));
  }

  /** Recorded changes first, then every new one. @param afterVersion events up to it are not sent */
  follow(changes: readonly Change[], afterVersion: number): void {
    for (const change of changes) this.#send(change);
    this.#unsubscribe = this.#plan.collection.subscribe((change) => {
      if (change.version > afterVersion) this.#send(change);
    });
  }

  every(intervalMs: number, action: () => void): void {
    const timer = setInterval(action, intervalMs);
    timer.unref();
    this.#timers.push(timer);
  }
  after(delayMs: number, action: () => void): void {
    // 2^31-1 is the longest delay a timer takes; longer ones would fire at once.
    const timer = setTimeout(action, Math.min(delayMs, 2_147_483_647));
    timer.unref();
    this.#timers.push(timer);
  }

  fail(error: ApiError): void {
    this.#write(Buffer.from(`${stringifyJson({ type: 'ERROR', object: error.body })}\n`));
    this.close('end');
  }

  /** Silence without a FIN. */
  stall(): void {
    if (this.#state === 'open') this.#state = 'stalled';
    this.#stopTimers();
  }

  close(how: 'reset' | 'end'): void {
    if (this.#state === 'closed') return;
    if (how === 'reset') this.#response.destroy();
    else this.#response.end();
    this.#finish();
  }

  /** Only what the selectors see: an object that begins or ceases to match was added or deleted for this watcher. */
  #send(change: Change): void {
    const isNow = change.type !== 'DELETED' && this.#plan.matches(change.entry);
    const was = change.previous !== undefined && this.#plan.matches(change.previous);
    if (isNow) this.#write(this.#plan.line(was ? 'MODIFIED' : 'ADDED', change.entry));
    else if (was) this.#write(this.#plan.line('DELETED', change.type === 'DELETED' ? change.entry : lastSeen(change)));
  }

  #write(bytes: Buffer): void {
    if (this.#state !== 'open') return;
    this.#response.write(bytes);
    if (this.#response.writableLength > backlogLimitBytes) this.close('reset');
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
  }

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#stopTimers();
    this.#unsubscribe?.();
    this.#onClose(this);
  }
}

/** An object that left the selection goes as it last matched, under the version of the change. */
function lastSeen(change: Change): Entry {
  const object = (change.previous ?? change.entry).object;
  return new Entry(change.entry.key, change.version, {
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(change.version) },
  });
}
