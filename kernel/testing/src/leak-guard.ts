import { createHook } from 'node:async_hooks';

/** Kinds of resource that outlive a call, as Node names them, and what people call them. */
const WATCHED: Readonly<Record<string, string>> = {
  Timeout: 'timer',
  TCPWRAP: 'socket',
  TCPSERVERWRAP: 'listening socket',
  TLSWRAP: 'TLS socket',
  UDPWRAP: 'UDP socket',
  PIPEWRAP: 'pipe',
  PIPESERVERWRAP: 'listening pipe',
  HTTP2SESSION: 'HTTP/2 session',
  FSEVENTWRAP: 'file watch',
  STATWATCHER: 'file watch',
  FILEHANDLE: 'open file',
  DIRHANDLE: 'open directory',
  PROCESSWRAP: 'child process',
  SIGNALWRAP: 'signal handler',
  WORKER: 'worker',
};

export interface Leak {
  readonly what: string;
  /** Where it was opened; the first frame that is not Node's. */
  readonly at: string;
}

export interface LeakGuard extends Disposable {
  /** What was opened since the guard was set and is open still. */
  open(): readonly Leak[];
  /**
   * Passes once everything opened since the guard was set is closed.
   * @param patienceMs real milliseconds to wait for what is just closing, default 2 000
   * @throws Error that names each leak and where it was opened
   */
  check(patienceMs?: number): Promise<void>;
}

/** Watches for timers, sockets, file and process handles from now on, those without a reference to the event loop included. */
export function leakGuard(): LeakGuard {
  const leakById = new Map<number, Leak>();
  let own = false;
  const hook = createHook({
    init(id, type) {
      const what = WATCHED[type];
      if (what !== undefined && !own) leakById.set(id, { what, at: birthplace() });
    },
    destroy: (id) => void leakById.delete(id),
  }).enable();

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      own = true;
      setTimeout(resolve, ms);
      own = false;
    });

  const guard: LeakGuard = {
    open: () => [...leakById.values()],
    async check(patienceMs = 2_000) {
      for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
      for (let waitedMs = 0; leakById.size > 0 && waitedMs < patienceMs; waitedMs += 20) await pause(20);
      hook.disable();
      const leaks = guard.open();
      if (leaks.length === 0) return;
      const lines = leaks.map(({ what, at }) => `  ${what} opened ${at}`);
      throw new Error(
        `left open:\n${lines.join('\n')}\nClose what you open; an instance closes it in [Symbol.asyncDispose].`,
      );
    },
    [Symbol.dispose]: () => void hook.disable(),
  };
  return guard;
}

/** Runs `act` and fails when it leaves something open. */
export async function withoutLeaks(act: () => Promise<void>, patienceMs?: number): Promise<void> {
  const guard = leakGuard();
  try {
    await act();
    await guard.check(patienceMs);
  } finally {
    guard[Symbol.dispose]();
  }
}

function birthplace(): string {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  const foreign = frames.find(
    (frame) => !frame.includes('node:') && !/leak-guard\.[jt]s:/.test(frame) && frame.includes('at '),
  );
  return foreign?.trim() ?? 'inside Node';
}
