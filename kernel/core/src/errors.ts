import { ReverserError, isReverserError, messageOf, reasonOf, type Retry } from '@gitops-reverser/kernel-api';

/** Reasons this package gives, with the cause and the remedy. */
export const REASONS = {
  PluginNotFound:
    'no package of this name lies where the configuration looks for it; install it beside the configuration file',
  PluginManifestInvalid:
    'what the package says about itself is missing, misspelt or untrue; its author has to repair it',
  PluginApiMismatch:
    'the plugin and the operator were made for different versions of the kernel API; upgrade one of them',
  PluginDuplicate: 'two packages claim one id, or one value to serve; remove one of them',
  PluginOptionsInvalid: 'the plugin does not know these options, or not these values; correct the configuration',
  PluginRulesInvalid: 'a rule by which the plugin strips or keeps labels or annotations can match nothing; correct it',
  PluginRulesConflict:
    'a plugin strips a label or annotation that another one knows to be intent; narrow its rule or remove one of them',
  PluginNeedsMissing: 'the plugin needs a value that nobody provides where it lives',
  PluginStartFailed: 'code of the plugin failed while it was loaded, created or started',
  PluginStartTimeout: 'code of the plugin did not come to an end while it was loaded or started',
  PluginUnavailable: 'an object needs a plugin that is not loaded, or is broken',
  PluginsBroken: 'one or more plugins cannot run; each is named with its own reason',
  ScopeClosed: 'something this scope was to use is closing; it is opened again once that is back',
} as const satisfies Readonly<Record<string, string>>;
export type CoreReason = keyof typeof REASONS;

interface Facts {
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

const RETRY: Readonly<Partial<Record<CoreReason, Retry>>> = {
  PluginStartTimeout: 'backoff',
  ScopeClosed: 'backoff',
  PluginStartFailed: 'backoff',
};

export function coreError(reason: CoreReason, facts: Facts): ReverserError {
  return new ReverserError({ reason, retry: RETRY[reason] ?? 'when-changed', ...facts });
}

/** Everything that is wrong with the configured plugins, at once. */
export class PluginsBroken extends ReverserError {
  /** One for each problem, in the order of the configuration. */
  readonly problems: readonly ReverserError[];

  constructor(problems: readonly ReverserError[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super({
      reason: 'PluginsBroken',
      retry: 'when-changed',
      message: [`plugins: ${count}`, ...problems.map(({ reason, message }) => `  ${reason}: ${message}`)].join('\n'),
      details: { reasons: problems.map(({ reason }) => reason) },
    });
    this.problems = problems;
  }
}

/** What a thrown value says about itself, for a message of ours: its reason where it has one, and its first line. */
export function causeText(error: unknown): string {
  const [line = ''] = messageOf(error).split('\n');
  return isReverserError(error) ? `${reasonOf(error)}: ${line}` : line;
}
