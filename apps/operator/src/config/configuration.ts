import { nearest } from '@gitops-reverser/kernel-api';
import { environmentName } from './setting.js';
import { SETTINGS, type SettingName, type SettingValues } from './settings.js';

/** One entry of the `plugins` list. */
export interface PluginEntry {
  /** Package name, or `default` for the built-in set. */
  readonly use: string;
  readonly options?: unknown;
  readonly whenBroken: 'stop' | 'continue';
}

export interface Configuration {
  readonly settings: SettingValues;
  /** Which source each value came from, for the log. */
  readonly origins: { readonly [N in SettingName]: 'flag' | 'environment' | 'file' | 'default' };
  readonly plugins: readonly PluginEntry[];
  /** Namespace of the operator: its Secrets live there. */
  readonly podNamespace: string;
  readonly podName: string;
}

export interface ConfigurationSources {
  /** Flags by name, without dashes; `true` for a flag given without a value. */
  readonly flags: ReadonlyMap<string, string | true>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The parsed file; absent when there is none. */
  readonly file?: unknown;
}

export type Parsed =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly problems: readonly string[] };

const NAMES = Object.keys(SETTINGS) as SettingName[];
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Reads every setting once: flag, then environment, then file, then default. All problems together, each with its place and remedy. */
export function parseConfiguration(sources: ConfigurationSources): Parsed {
  const problems: string[] = [];
  const file = readFile(sources.file, problems);
  refuseUnknownFlags(sources.flags, problems);
  refuseUnknownVariables(sources.environment, problems);

  const values: [string, unknown][] = [];
  const origins: [string, string][] = [];
  for (const name of NAMES) {
    const spec = SETTINGS[name];
    const given = pick(sources, file, name);
    const parsed = given === undefined ? { ok: true as const, value: spec.default } : spec.parse(given.raw);
    if (!parsed.ok) problems.push(`${given?.place}: ${parsed.error}`);
    else values.push([name, parsed.value]);
    origins.push([name, given?.origin ?? 'default']);
  }
  const podNamespace = sources.environment['POD_NAMESPACE'] ?? '';
  if (!DNS_LABEL.test(podNamespace)) {
    problems.push(
      `POD_NAMESPACE: expected the namespace the operator runs in, found ${podNamespace === '' ? 'nothing' : `'${podNamespace}'`}; set the variable (in a pod: from the downward API)`,
    );
  }
  const plugins = readPlugins(file.get('plugins'), problems);
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    configuration: Object.freeze({
      settings: Object.freeze(Object.fromEntries(values)) as SettingValues,
      origins: Object.fromEntries(origins) as Configuration['origins'],
      plugins,
      podNamespace,
      podName: sources.environment['POD_NAME'] ?? 'gitops-reverser',
    }),
  };
}

interface Given {
  readonly raw: unknown;
  readonly origin: 'flag' | 'environment' | 'file';
  readonly place: string;
}

function pick(sources: ConfigurationSources, file: ReadonlyMap<string, unknown>, name: SettingName): Given | undefined {
  const { flag, path } = SETTINGS[name];
  const byFlag = sources.flags.get(flag);
  if (byFlag !== undefined) return { raw: byFlag, origin: 'flag', place: `--${flag}` };
  const variable = environmentName(flag);
  const byVariable = sources.environment[variable];
  if (byVariable !== undefined) return { raw: byVariable, origin: 'environment', place: variable };
  const at = path.join('.');
  return file.has(at) ? { raw: file.get(at), origin: 'file', place: `configuration file, ${at}` } : undefined;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Flattens the file to `section.key`, refusing what no setting is named. `plugins` stays whole. */
function readFile(content: unknown, problems: string[]): ReadonlyMap<string, unknown> {
  const flat = new Map<string, unknown>();
  if (content === undefined) return flat;
  if (!isMap(content)) {
    problems.push('configuration file: expected a map that starts with version: 1');
    return flat;
  }
  if (content['version'] !== 1)
    problems.push(
      `configuration file, version: expected 1, found ${JSON.stringify(content['version']) ?? 'nothing'}; put version: 1 first`,
    );
  const sections = new Set(
    NAMES.filter((name) => SETTINGS[name].path.length > 1).map((name) => SETTINGS[name].path[0] ?? ''),
  );
  const known = NAMES.map((name) => SETTINGS[name].path.join('.'));
  const roots = ['version', 'plugins', ...known.map((path) => path.split('.')[0] ?? '')];
  for (const [key, value] of Object.entries(content)) {
    if (key === 'version') continue;
    if (key === 'plugins') flat.set(key, value);
    else if (sections.has(key) && isMap(value)) {
      for (const [inner, setting] of Object.entries(value)) {
        const path = `${key}.${inner}`;
        if (known.includes(path)) flat.set(path, setting);
        else problems.push(`configuration file, ${path}: unknown key; did you mean ${nearest(path, known)}?`);
      }
    } else if (sections.has(key)) problems.push(`configuration file, ${key}: expected a map of settings`);
    else if (known.includes(key)) flat.set(key, value);
    else problems.push(`configuration file, ${key}: unknown key; did you mean ${nearest(key, roots)}?`);
  }
  return flat;
}

function refuseUnknownFlags(flags: ReadonlyMap<string, unknown>, problems: string[]): void {
  const known = NAMES.map((name) => SETTINGS[name].flag);
  for (const flag of flags.keys()) {
    if (!known.includes(flag)) problems.push(`--${flag}: unknown flag; did you mean --${nearest(flag, known)}?`);
  }
}

function refuseUnknownVariables(environment: Readonly<Record<string, string | undefined>>, problems: string[]): void {
  const known = NAMES.map((name) => environmentName(SETTINGS[name].flag));
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith('GITOPS_REVERSER_') || known.includes(variable)) continue;
    problems.push(`${variable}: unknown variable; did you mean ${nearest(variable, known)}?`);
  }
}

function readPlugins(raw: unknown, problems: string[]): readonly PluginEntry[] {
  const preset: readonly PluginEntry[] = [{ use: 'default', whenBroken: 'stop' }];
  if (raw === undefined) return preset;
  if (!Array.isArray(raw) || raw.length === 0) {
    problems.push('configuration file, plugins: expected a list of entries with use');
    return preset;
  }
  return raw.map((entry: unknown, index): PluginEntry => {
    const place = `configuration file, plugins[${index}]`;
    if (!isMap(entry) || typeof entry['use'] !== 'string' || entry['use'] === '') {
      problems.push(`${place}: expected use: <package name>`);
      return { use: '', whenBroken: 'stop' };
    }
    for (const key of Object.keys(entry)) {
      if (!['use', 'options', 'whenBroken'].includes(key))
        problems.push(`${place}.${key}: unknown key; did you mean ${nearest(key, ['use', 'options', 'whenBroken'])}?`);
    }
    const whenBroken = entry['whenBroken'] ?? 'stop';
    if (whenBroken !== 'stop' && whenBroken !== 'continue')
      problems.push(`${place}.whenBroken: expected stop or continue, found '${String(whenBroken)}'`);
    const base = {
      use: entry['use'],
      whenBroken: whenBroken === 'continue' ? ('continue' as const) : ('stop' as const),
    };
    return entry['options'] === undefined ? base : { ...base, options: entry['options'] };
  });
}
