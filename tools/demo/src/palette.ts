/** How a piece of text is meant; without colours all of them are the text itself. */
export interface Palette {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly accent: (text: string) => string;
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
}

const same = (text: string): string => text;
const sgr =
  (code: number) =>
  (text: string): string =>
    `\u001b[${code}m${text}\u001b[0m`;

export const plain: Palette = { strong: same, faint: same, accent: same, added: same, removed: same };
export const coloured: Palette = { strong: sgr(1), faint: sgr(2), accent: sgr(36), added: sgr(32), removed: sgr(31) };

/** NO_COLOR wins, then FORCE_COLOR, then whether somebody looks. */
export function choosePalette(env: Readonly<Record<string, string | undefined>>, isTty: boolean): Palette {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== '';
  if (isSet('NO_COLOR')) return plain;
  if (isSet('FORCE_COLOR')) return env['FORCE_COLOR'] === '0' ? plain : coloured;
  return isTty && env['TERM'] !== 'dumb' ? coloured : plain;
}
