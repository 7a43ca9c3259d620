import { fakeClock } from '@gitops-reverser/kernel-testing';
import { KubeError } from './errors.js';
import { WorkQueue } from './work-queue.js';

const noJitter = (): number => 0;

/** Work that a test ends by hand. */
function manualWork() {
  const started: string[] = [];
  const open = new Map<string, () => void>();
  const work = (key: string): Promise<void> => {
    started.push(key);
    return new Promise((resolve) => open.set(key, resolve));
  };
  return { started, work, end: (key: string) => open.get(key)?.() };
}

it('a key asked for many times runs once', async () => {
  const clock = fakeClock();
  const { started, work, end } = manualWork();
  await using queue = new WorkQueue({ clock, work, concurrency: 1 });

  for (const key of ['a', 'b', 'b', 'b']) queue.add(key);
  await clock.settle();
  end('a');
  await clock.settle();
  end('b');
  await queue.whenIdle();

  expect(started).toEqual(['a', 'b']);
});

it('asked for while it runs, a key runs once more afterwards and never beside itself', async () => {
  const clock = fakeClock();
  const { started, work, end } = manualWork();
  await using queue = new WorkQueue({ clock, work });

  queue.add('a');
  await clock.settle();
  queue.add('a');
  queue.add('a');
  await clock.settle();
  const during = [...started];
  end('a');
  await clock.settle();
  end('a');
  await queue.whenIdle();

  expect([during, started]).toEqual([['a'], ['a', 'a']]);
});

it('keys that ask for each other for ever keep the process neither from its timers nor from stopping', async () => {
  const clock = fakeClock();
  const queue: WorkQueue = new WorkQueue({ clock, work: async (key) => queue.add(key === 'a' ? 'b' : 'a') });

  queue.add('a');
  await new Promise((resolve) => setTimeout(resolve, 1));
  await queue[Symbol.asyncDispose]();

  expect(queue.depth).toBe(0);
});

it('FC-OPS-4: a slow key holds its own place and no other', async () => {
  const clock = fakeClock();
  const { started, work, end } = manualWork();
  await using queue = new WorkQueue({ clock, work, concurrency: 2 });

  for (const key of ['slow', 'b', 'c', 'd']) queue.add(key);
  for (const key of ['b', 'c', 'd']) {
    await clock.settle();
    end(key);
  }
  await clock.settle();

  expect([started, queue.depth]).toEqual([['slow', 'b', 'c', 'd'], 0]);
  end('slow');
});

it('WP-13: failures climb the ladder, a success resets it', async () => {
  const clock = fakeClock();
  const delays: number[] = [];
  let failures = 6;
  await using queue = new WorkQueue({
    clock,
    random: noJitter,
    work: () => (failures-- > 0 ? Promise.reject(new Error('down')) : Promise.resolve()),
    onFailure: (_, __, ms) => delays.push(ms),
  });

  queue.add('a');
  await clock.advance(200_000);
  failures = 1;
  queue.add('a');
  await clock.advance(2_000);

  expect(delays).toEqual([2_000, 5_000, 10_000, 30_000, 60_000, 60_000, 2_000]);
  expect(queue.delayed).toBe(0);
});

it('asked for again before its retry is due, a key that fails at once climbs no rung: the retry stays due when it was', async () => {
  const clock = fakeClock();
  const start = clock.now().getTime();
  const attempts: number[] = [];
  let isDown = true;
  await using queue = new WorkQueue({
    clock,
    random: noJitter,
    work: () => {
      attempts.push(clock.now().getTime() - start);
      return isDown ? Promise.reject(new Error('down')) : Promise.resolve();
    },
  });

  for (let call = 0; call < 5; call += 1) {
    queue.add('a');
    await clock.advance(100);
  }
  await clock.advance(6_000);
  isDown = false;
  await clock.advance(60_000);

  expect(attempts).toEqual([0, 100, 200, 300, 400, 2_000, 7_000]);
});

it('honours the wait a server asks for', async () => {
  const clock = fakeClock();
  const delays: number[] = [];
  const error = new KubeError({ code: 429, reason: 'TooManyRequests', message: 'slow down', retryAfterSeconds: 45 });
  await using queue = new WorkQueue({
    clock,
    random: noJitter,
    work: () => Promise.reject(error),
    onFailure: (_, __, ms) => delays.push(ms),
  });

  queue.add('a');
  await clock.settle();

  expect(delays).toEqual([45_000]);
});

it('the earliest of several times counts, and an immediate call voids them', async () => {
  const clock = fakeClock();
  const start = clock.now().getTime();
  const at: number[] = [];
  const work = async (): Promise<void> => void at.push(clock.now().getTime() - start);
  await using queue = new WorkQueue({ clock, work });

  queue.addAfter('a', 5_000);
  queue.addAfter('a', 1_000);
  queue.addAfter('a', 9_000);
  await clock.advance(20_000);
  queue.addAfter('a', 5_000);
  queue.add('a');
  await clock.advance(20_000);

  expect(at).toEqual([1_000, 20_000]);
});

it('a round can ask to be run again later', async () => {
  const clock = fakeClock();
  let rounds = 0;
  await using queue = new WorkQueue({
    clock,
    work: async () => (++rounds < 3 ? { requeueAfterMs: 30_000 } : undefined),
  });

  queue.add('a');
  await clock.advance(120_000);

  expect(rounds).toBe(3);
});

it('a removed key is forgotten with its delay', async () => {
  const clock = fakeClock();
  const { started, work } = manualWork();
  await using queue = new WorkQueue({ clock, work });

  queue.addAfter('a', 1_000);
  queue.remove('a');
  await clock.advance(2_000);

  expect([started, clock.sleeping]).toEqual([[], 0]);
});

it('FC-OPS-3: draining lets running rounds end, starts none, and leaves no timer', async () => {
  const clock = fakeClock();
  const { started, work, end } = manualWork();
  const queue = new WorkQueue({ clock, work, concurrency: 1 });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 1_000);
  await clock.settle();

  const drained = queue.drain();
  queue.add('d');
  end('a');
  await drained;
  await clock.advance(5_000);

  expect([started, clock.sleeping]).toEqual([['a'], 0]);
});

it('disposing tells running rounds to stop, and does not count that as a failure', async () => {
  const clock = fakeClock();
  const failures: string[] = [];
  const queue = new WorkQueue({
    clock,
    work: (_, signal) => new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    onFailure: (key) => failures.push(key),
  });
  queue.add('a');
  await clock.settle();

  await queue[Symbol.asyncDispose]();

  expect([failures, queue.delayed]).toEqual([[], 0]);
});
