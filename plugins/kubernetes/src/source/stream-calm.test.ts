import { Readable } from 'node:stream';
import { fakeClock, type FakeClock } from '@gitops-reverser/kernel-testing';
import { KubeClient, KubeError, type KubeConnection, type KubeRequest } from '@gitops-reverser/toolkit-kube';
import { assert, asyncProperty, integer } from 'fast-check';
import { endMark, statusBody } from './api-stub.fixture.js';
import { shopMaps } from './following.fixture.js';
import { CollectionStream } from './stream.js';

const STREAMS = 200;
const SYNCHRONISED_MS = 50;

interface Attempt {
  readonly atMs: number;
  readonly stream: string;
}

/** A server without sockets: up, then refusing connections for 60 s, then answering 503 for 10 s, then up again. */
class Outage implements KubeConnection {
  readonly server = 'https://outage.example.test';
  readonly namespace = undefined;
  readonly clock: FakeClock;
  readonly attempts: Attempt[] = [];
  readonly #open = new Set<Readable>();
  #downAt = Number.POSITIVE_INFINITY;

  constructor(clock: FakeClock) {
    this.clock = clock;
  }

  begin(): void {
    this.#downAt = this.clock.now().getTime();
    for (const body of this.#open) body.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    this.#open.clear();
  }

  recover(): void {
    this.#downAt = Number.POSITIVE_INFINITY;
  }

  /** Attempts since the outage began. */
  get since(): readonly Attempt[] {
    return this.attempts.filter(({ atMs }) => atMs >= this.#downAt);
  }

  get isOver(): boolean {
    return this.clock.now().getTime() - this.#downAt >= 70_000;
  }

  request(request: KubeRequest): ReturnType<KubeConnection['request']> {
    const status = this.#answer(request);
    const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items: [] };
    const body = status === 200 ? list : statusBody(503, 'ServiceUnavailable', 'not ready');
    return Promise.resolve({ status, headers: {}, body: Buffer.from(JSON.stringify(body)) });
  }

  openStream(request: Pick<KubeRequest, 'path' | 'query'>): ReturnType<KubeConnection['openStream']> {
    const status = this.#answer({ ...request, method: 'GET' });
    const body = new Readable({ read: () => undefined });
    if (status !== 200) {
      body.push(JSON.stringify(statusBody(503, 'ServiceUnavailable', 'not ready')));
      body.push(null);
    } else {
      this.#open.add(body);
      body.push(endMark('9'));
    }
    return Promise.resolve({ status, headers: {}, body, wasCut: () => false, close: () => void body.destroy() });
  }

  #answer({ path }: KubeRequest): number {
    const atMs = this.clock.now().getTime();
    this.attempts.push({ atMs, stream: path });
    const age = atMs - this.#downAt;
    if (age >= 0 && age < 60_000)
      throw new KubeError({ code: 0, reason: 'ConnectionRefused', message: 'the connection was refused' });
    return age >= 60_000 && age < 70_000 ? 503 : 200;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** Repeatable for one seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The most streams that ask within one window. */
function mostAtOnce(attempts: readonly Attempt[]): number {
  const sorted = [...attempts].sort((a, b) => a.atMs - b.atMs);
  let most = 0;
  for (let first = 0, last = 0; last < sorted.length; last += 1) {
    while ((sorted[last]?.atMs ?? 0) - (sorted[first]?.atMs ?? 0) >= SYNCHRONISED_MS) first += 1;
    most = Math.max(most, new Set(sorted.slice(first, last + 1).map(({ stream }) => stream)).size);
  }
  return most;
}

it('FC-WCH-2: back after an outage, calmly: few requests for each stream, few streams at a time, and every one is back', async () => {
  await assert(
    asyncProperty(integer(), async (seed) => {
      const clock = fakeClock();
      const random = randomFrom(seed);
      const outage = new Outage(clock);
      const stop = new AbortController();
      const streaming = new Set<number>();
      const reading = Array.from({ length: STREAMS }, async (_, index) => {
        const stream = new CollectionStream(
          {
            client: new KubeClient(outage),
            collection: { ...shopMaps, namespace: `ns-${index}` },
            clock,
            traits: { withoutWatchList: new Set() },
            random,
            onNotFound: () => undefined,
          },
          undefined,
        );
        for await (const event of stream.events(stop.signal)) {
          if (event.kind === 'streaming') streaming.add(index);
          if (event.kind === 'trouble') streaming.delete(index);
        }
      });
      // Healthy before: the ladder starts at its first rung.
      await clock.advance(61_000);
      expect(streaming.size).toBe(STREAMS);

      outage.begin();
      while (!outage.isOver) await clock.advanceToNext();
      const during = outage.since;
      for (let turn = 0; turn < 100; turn += 1) await clock.advance(1_000);

      const counts = new Map<string, number>();
      for (const { stream } of during) counts.set(stream, (counts.get(stream) ?? 0) + 1);
      expect(counts.size).toBe(STREAMS);
      expect(Math.max(...counts.values())).toBeLessThanOrEqual(12);
      expect(mostAtOnce(outage.since)).toBeLessThanOrEqual(STREAMS / 10);
      expect(streaming.size).toBe(STREAMS);
      stop.abort();
      await Promise.all(reading);
      expect(clock.sleeping).toBe(0);
    }),
    { numRuns: 4 },
  );
}, 60_000);

it('FC-WCH-2: the ladder starts again only after a stream that lived a while', async () => {
  const clock = fakeClock();
  const outage = new Outage(clock);
  const stop = new AbortController();
  const stream = new CollectionStream(
    {
      client: new KubeClient(outage),
      collection: shopMaps,
      clock,
      traits: { withoutWatchList: new Set() },
      random: () => 0,
      onNotFound: () => undefined,
    },
    undefined,
  );
  const reading = (async () => {
    for await (const event of stream.events(stop.signal)) void event;
  })();
  const pauses: number[] = [];
  for (const livedMs of [1_000, 1_000, 1_000, 59_000, 60_000, 1_000]) {
    await clock.advance(livedMs);
    const cutAt = clock.now().getTime();
    const before = outage.attempts.length;
    outage.begin();
    // Only the cut, not the outage.
    outage.recover();
    while (outage.attempts.length === before) await clock.advanceToNext();
    pauses.push(clock.now().getTime() - cutAt);
    await clock.settle();
  }

  expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 2_000, 4_000]);
  stop.abort();
  await reading;
});
