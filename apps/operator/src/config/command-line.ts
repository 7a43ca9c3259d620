import { SETTINGS, type SettingName } from './settings.js';

export const COMMANDS = ['run', 'check-config', 'print-crds', 'help', 'version'] as const;
export type Command = (typeof COMMANDS)[number];

export interface CommandLine {
  readonly command: Command | undefined;
  /** What stood in place of a known command. */
  readonly unknown?: string;
  readonly flags: ReadonlyMap<string, string | true>;
  /** Arguments that are no flags. */
  readonly extra: readonly string[];
}

const SWITCHES = new Set(
  (Object.keys(SETTINGS) as SettingName[])
    .filter((name) => typeof SETTINGS[name].default === 'boolean')
    .map((name) => SETTINGS[name].flag as string),
);

/** `[command] --flag=value --flag value --switch`. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const flags = new Map<string, string | true>();
  const words: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '-h') flags.set('help', true);
    else if (!arg.startsWith('--')) words.push(arg);
    else {
      const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
      const next = args[at + 1];
      if (value !== undefined) flags.set(name, value);
      else if (
        SWITCHES.has(name) ||
        name === 'help' ||
        name === 'version' ||
        next === undefined ||
        next.startsWith('--')
      )
        flags.set(name, true);
      else {
        flags.set(name, next);
        at += 1;
      }
    }
  }
  const [word = 'run', ...extra] = words;
  const asked = flags.delete('help')
    ? 'help'
    : flags.delete('version')
      ? 'version'
      : COMMANDS.find((known) => known === word);
  return { command: asked, flags, extra, ...(asked === undefined ? { unknown: word } : {}) };
}
