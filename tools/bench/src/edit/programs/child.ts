/** What a program of the bench was asked to do, and where its answer goes: one JSON text each. */
export interface Measured<T> {
  /** Absent of an idle run: everything is loaded and nothing was done. */
  readonly answer?: T;
  readonly peakRssMiB: number;
}

/** Runs one measurement in this process; with `{"idle":true}` in its place, nothing. */
export async function runProgram<Ask, Answer>(measure: (ask: Ask) => Promise<Answer>): Promise<void> {
  const ask = JSON.parse(process.argv[2] ?? '') as Ask | { readonly idle: true };
  const isIdle = typeof ask === 'object' && ask !== null && 'idle' in ask;
  const answer = isIdle ? undefined : await measure(ask as Ask);
  const peakRssMiB = process.resourceUsage().maxRSS / 1024;
  const measured: Measured<Answer> = { peakRssMiB, ...(answer === undefined ? {} : { answer }) };
  process.stdout.write(JSON.stringify(measured));
}

/** A module that was bundled beside the program under this name: what a tool may use, but not lean on. */
export async function loadBundled<T>(name: 'plugin-plain' | 'manifest-analyzer' | 'yaml'): Promise<T> {
  return (await import(new URL(`./${name}.js`, import.meta.url).href)) as T;
}

/** Milliseconds that `act` takes, by the clock and of processor time; the second says little about what else the machine does. */
export function timed<T>(act: () => T): { readonly ms: number; readonly cpuMs: number; readonly value: T } {
  const cpuBefore = process.cpuUsage();
  const beganMs = performance.now();
  const value = act();
  const ms = performance.now() - beganMs;
  return { ms, cpuMs: cpuMsSince(cpuBefore), value };
}

/** Of all threads, the collector's included. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
