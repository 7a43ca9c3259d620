import { ReverserError } from '@gitops-reverser/kernel-api';

/** The shape of every duration field; the unit is mandatory. Overflow is left to the bounds of each field. */
export const durationPattern = '^([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$';
/** The duration that also takes a bare zero (`convergeInterval`). */
export const durationOrZeroPattern = '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$';
export const durationMaxLength = 32;

const nanosecondsByUnit: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
// 2^63 - 1: largest duration of Go's time package, about 292 years; the API server parses with it
const largestNanoseconds = 9_223_372_036_854_775_807n;
const part = /([0-9]+)(?:\.([0-9]+))?(ns|us|µs|μs|ms|s|m|h)/gu;

/** Nanoseconds of a Go duration, or `undefined` when the text is none or does not fit. */
export function toNanoseconds(text: string): bigint | undefined {
  if (text === '0') return 0n;
  if (text.length > durationMaxLength || !new RegExp(durationPattern, 'u').test(text)) return undefined;
  let total = 0n;
  for (const [, whole = '0', fraction = '', unit = 's'] of text.matchAll(part)) {
    const scale = nanosecondsByUnit[unit] ?? 0n;
    total += BigInt(whole) * scale;
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return total > largestNanoseconds ? undefined : total;
}

/**
 * Milliseconds of a Go duration such as `1m30s`. Below a millisecond the result has a fraction.
 *
 * @throws ReverserError InvalidDuration, retry `when-changed`
 */
export function parseDuration(text: string): number {
  const nanoseconds = toNanoseconds(text);
  if (nanoseconds === undefined) {
    throw new ReverserError({
      reason: 'InvalidDuration',
      retry: 'when-changed',
      message: `duration ${JSON.stringify(text.slice(0, durationMaxLength))}: expected digits with a unit, such as 90s, 1m30s or 500ms, below 292 years`,
    });
  }
  return Number(nanoseconds) / 1e6;
}

/** Compares as durations, never as text: `60s` equals `1m`. Unreadable texts are equal only to themselves. */
export function sameDuration(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const left = toNanoseconds(a);
  return left === undefined ? a === b : left === toNanoseconds(b);
}

/** Whether `text` is a duration within `[least, most]`. */
export function isDurationWithin(text: string, least: string, most: string): boolean {
  const value = toNanoseconds(text);
  return (
    value !== undefined && value >= (toNanoseconds(least) ?? 0n) && value <= (toNanoseconds(most) ?? largestNanoseconds)
  );
}

/** Short text of milliseconds for messages: `1h30m`, `250ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ] as const;
  return parts
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value}${unit}`)
    .join('');
}
