import type { OptionsSchema } from '@gitops-reverser/kernel-api';

/** The options table of a plugin's README: paste it, and the contract suite keeps it true. */
export function optionsTable(schema: OptionsSchema): string {
  const rows = Object.entries(schema).map(
    ([name, spec]) =>
      `| \`${name}\` | ${spec.type} | \`${shown(spec.type, spec.default)}\` | ${spec.range === '' ? '' : `\`${escaped(spec.range)}\``} | ${escaped(spec.doc)} |`,
  );
  return ['| Option | Type | Default | Range | Meaning |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** Cells without padding and rulers of any width: what a formatter does to a table does not count. */
export function normalizedTable(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replaceAll(/\s*(?<!\\)\|\s*/g, '|')
        .replaceAll(/:?-{3,}:?/g, '---'),
    )
    .join('\n');
}

function shown(type: string, value: unknown): string {
  return type === 'duration' && typeof value === 'number' ? formatDuration(value) : JSON.stringify(value);
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Shortest Go duration for a number of milliseconds. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, size] of [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * size;
  }
  if (rest > 0) parts.push(`${rest}ms`);
  return parts.join('');
}
