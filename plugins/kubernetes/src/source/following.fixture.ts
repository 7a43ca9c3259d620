import { targetId, type Clock, type Collection, type Cursor, type SourceEvent } from '@gitops-reverser/kernel-api';
import { fakeClock, whileTicking, within, type FakeClock } from '@gitops-reverser/kernel-testing';
import {
  KubeClient,
  openKubeConnection,
  type KubeConnection,
  type KubeConnectionOptions,
} from '@gitops-reverser/toolkit-kube';
import { CollectionStream, type ServerTraits } from './stream.js';

export const shopMaps: Collection = {
  target: targetId('demo', 'target'),
  type: { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true },
  namespace: 'shop',
};

/** Real time, for connections whose other end is a real socket. */
export const realClock: Clock = {
  now: () => new Date(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
    }),
};

export function connectTo(
  server: string,
  { token = 'stub-token', ...options }: Partial<KubeConnectionOptions> & { readonly token?: string } = {},
): KubeConnection {
  const material = { headers: { authorization: `Bearer ${token}` }, tls: {} };
  return openKubeConnection({
    credentials: { server, material: () => Promise.resolve(material) },
    clock: realClock,
    ...options,
  });
}

export interface FollowOptions {
  readonly from?: string;
  readonly token?: string;
  readonly collection?: Collection;
  readonly traits?: ServerTraits;
  readonly random?: () => number;
  /** One for the stream's pauses. The connection has real time unless it shares it. */
  readonly clock?: FakeClock;
  /** Silence and ages of watches are fake too; the test moves time itself. */
  readonly sharesClock?: boolean;
  onNotFound?(): void;
}

export interface Following extends AsyncDisposable {
  readonly clock: FakeClock;
  /** What was told up to and with the first event that reads so. Time moves meanwhile, unless the clock is shared. */
  until(last: string | RegExp): Promise<readonly string[]>;
  /** One more event. */
  next(): Promise<string>;
  /** Nothing is told for a moment. */
  quiet(): Promise<void>;
  /** Waits for something outside while time moves as in `until`. */
  eventually(holds: () => boolean): Promise<void>;
  stop(): Promise<readonly string[]>;
}

const MOMENT_MS = 40;
const STEP_MS = 250;
// Real sockets need real time: whatever is under way comes before time moves, and between two steps of it.
const SOON_MS = 15;
const BREATH_MS = 3;

/** Follows one collection of a server until disposed of; then the stream must end within a second. */
export function follow(server: string, options: FollowOptions = {}): Following {
  const clock = options.clock ?? fakeClock();
  const { token } = options;
  const connection = connectTo(server, {
    ...(token === undefined ? {} : { token }),
    ...(options.sharesClock === true ? { clock } : {}),
  });
  const stop = new AbortController();
  const stream = new CollectionStream(
    {
      client: new KubeClient(connection),
      collection: options.collection ?? shopMaps,
      clock,
      traits: options.traits ?? { withoutWatchList: new Set() },
      random: options.random ?? (() => 0),
      onNotFound: () => options.onNotFound?.(),
    },
    options.from as Cursor | undefined,
  );
  const tick =
    options.sharesClock === true
      ? undefined
      : async (): Promise<void> => {
          await new Promise((resolve) => setTimeout(resolve, BREATH_MS));
          await clock.advance(STEP_MS);
        };
  const events = stream.events(stop.signal);
  let pending: Promise<SourceEvent | undefined> | undefined;
  const ask = (): Promise<SourceEvent | undefined> =>
    (pending ??= events.next().then(({ value }) => (value === undefined ? undefined : value)));
  const take = async (what: string): Promise<SourceEvent | undefined> => {
    const asked = ask();
    // What is there already needs no time to pass.
    const isThere = await isSoon(asked);
    const event = isThere ? await asked : await whileTicking(asked, tick, what);
    pending = undefined;
    return event;
  };
  return {
    clock,
    async until(last) {
      const seen: string[] = [];
      for (;;) {
        const event = await take(`${String(last)}, after ${seen.join(', ')}`);
        if (event === undefined) throw new Error(`the stream ended before ${String(last)}: ${seen.join(', ')}`);
        seen.push(told(event));
        if (typeof last === 'string' ? told(event) === last : last.test(told(event))) return seen;
      }
    },
    async next() {
      const event = await take('one more event');
      return event === undefined ? 'end' : told(event);
    },
    async quiet() {
      const silence = new Promise<'silence'>((resolve) => setTimeout(resolve, MOMENT_MS, 'silence'));
      const first = await Promise.race([ask(), silence]);
      if (first !== 'silence')
        throw new Error(`expected silence, was told ${first === undefined ? 'end' : told(first)}`);
    },
    eventually: (holds) => whileTicking(eventually(holds), tick, holds.toString()),
    async stop() {
      stop.abort();
      const rest: SourceEvent[] = [];
      const end = async (): Promise<void> => {
        for (let event = await ask(); event !== undefined; event = await ask()) {
          pending = undefined;
          rest.push(event);
        }
      };
      await within(end(), 'the end of an aborted stream', 1_000);
      return rest.map(told);
    },
    async [Symbol.asyncDispose]() {
      await this.stop();
      await connection.close();
    },
  };
}

async function isSoon(promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, SOON_MS, false)));
  const isThere = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return isThere;
}

/** Waits for a real server on the other end of a real socket. */
export async function eventually(holds: () => boolean, ms = 4_500): Promise<void> {
  const deadline = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`never came true: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** One event in one line: `upsert a@3 snapshot`, `snapshot-end@9`, `trouble WatchError`. */
export function told(event: SourceEvent): string {
  switch (event.kind) {
    case 'upsert':
      return `upsert ${event.ref.name}@${event.cursor} ${event.via}`;
    case 'delete':
      return `${event.removal} ${event.ref.name}@${event.cursor}`;
    case 'snapshot-end':
    case 'progress':
      return `${event.kind}@${event.cursor}`;
    case 'trouble':
      return `trouble ${event.reason}: ${event.message}`;
    default:
      return event.kind;
  }
}
