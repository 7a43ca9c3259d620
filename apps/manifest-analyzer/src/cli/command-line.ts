import { nearest, ok, refuse, type Result } from '@gitops-reverser/kernel-api';

export const modes = ['analyze', 'scan-folder', 'scan-repo', 'discovery'] as const;
export type Mode = (typeof modes)[number];
const formats = ['text', 'json', 'yaml'] as const;
const policies = ['report', 'refuse'] as const;

export interface Command {
  readonly mode: Mode;
  readonly format: (typeof formats)[number];
  readonly policy: (typeof policies)[number];
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Empty in `discovery`. */
  readonly directory: string;
}
export type Asked =
  { readonly kind: 'help' } | { readonly kind: 'version' } | { readonly kind: 'run'; readonly command: Command };

const valued = new Set(['mode', 'format', 'policy', 'kubeconfig', 'context']);
const switches = new Set(['help', 'version']);

/** Reads `--flag value` and `--flag=value`; everything wrong with them is one message. */
export function readCommandLine(args: readonly string[]): Result<Asked, string> {
  const flags = new Map<string, string>();
  const words: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--') words.push(...rest.splice(0));
    else if (arg === '-h') flags.set('help', '');
    else if (!arg.startsWith('-') || arg === '-') words.push(arg);
    else {
      const [, name = '', value] = /^--?([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
      const isSwitch = switches.has(name);
      if (!isSwitch && !valued.has(name)) {
        return refuse(`unknown flag ${arg}; did you mean --${nearest(name, [...valued, ...switches]) ?? 'help'}?`);
      }
      if (flags.has(name)) return refuse(`--${name} is given twice`);
      const given = value ?? (isSwitch ? '' : rest.shift());
      if (given === undefined) return refuse(`--${name} needs a value`);
      flags.set(name, given);
    }
  }
  if (flags.has('help')) return ok({ kind: 'help' });
  if (flags.has('version')) return ok({ kind: 'version' });
  return toCommand(flags, words);
}

function toCommand(flags: ReadonlyMap<string, string>, words: readonly string[]): Result<Asked, string> {
  const mode = choose('mode', flags.get('mode') ?? 'analyze', modes);
  if (!mode.ok) return mode;
  const format = choose('format', flags.get('format') ?? 'text', formats);
  if (!format.ok) return format;
  const policy = choose('policy', flags.get('policy') ?? 'report', policies);
  if (!policy.ok) return policy;
  const isScan = mode.value === 'scan-folder' || mode.value === 'scan-repo';
  if (format.value === 'yaml' && !isScan) return refuse('--format yaml is for the modes scan-folder and scan-repo');
  const kubeconfig = flags.get('kubeconfig');
  const context = flags.get('context');
  const isDiscovery = mode.value === 'discovery';
  if (!isDiscovery && (kubeconfig ?? context) !== undefined)
    return refuse('--kubeconfig and --context are for the mode discovery');
  const [directory = '', extra] = words;
  if (isDiscovery && directory !== '') return refuse('the mode discovery takes no directory');
  if (!isDiscovery && directory === '') return refuse('name the directory to look at');
  if (extra !== undefined) return refuse('expected one directory, found more');
  const command = { mode: mode.value, format: format.value, policy: policy.value, directory };
  return ok({
    kind: 'run',
    command: {
      ...command,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    },
  });
}

/** Modes of the past, and what does their work now. */
const retired: Readonly<Record<string, Mode>> = { scan: 'scan-folder', 'repo-walker': 'scan-repo' };

function choose<T extends string>(flag: string, value: string, allowed: readonly T[]): Result<T, string> {
  const found = allowed.find((each) => each === value);
  if (found !== undefined) return ok(found);
  const successor = flag === 'mode' && Object.hasOwn(retired, value) ? retired[value] : undefined;
  if (successor !== undefined) return refuse(`--mode ${value} is retired; use --mode ${successor}`);
  return refuse(`--${flag}: expected ${allowed.join(', ')}, found ${JSON.stringify(value)}`);
}

export const usage = `Usage: manifest-analyzer [flags] <dir>

Tells which folders of a repository the operator can mirror into, and why others cannot. Reads only; needs no cluster.

  --mode MODE          analyze      what every document of a folder is (default)
                       scan-folder  whether one folder is accepted, and if not, why
                       scan-repo    every folder a target could name, with its verdict
                       discovery    which types of a cluster can be mirrored
  --format FORMAT      text (default), json; yaml for the scan modes
  --policy POLICY      report (default): exit 0 whatever was found
                       refuse: exit 1 when analyze has an issue, or scan-folder does not accept
  --kubeconfig FILE    for discovery; default $KUBECONFIG, then ~/.kube/config
  --context NAME       for discovery; default the file's current context
  --version            print versions
  --help               print this

Exit codes: 0 done, 1 refused by policy, 2 bad flag, no directory, or unreadable.
`;
