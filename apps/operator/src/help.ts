import { environmentName } from './config/setting.js';
import { SETTINGS } from './config/settings.js';

/** The text of `help`, printed from the settings themselves. */
export function helpText(): string {
  const settings = Object.values(SETTINGS).map(
    ({ flag, defaultText, doc }) => `  --${flag}=${defaultText}\n      ${doc}`,
  );
  return `Usage: gitops-reverser [command] [flags]

Commands:
  run            (default) mirror what the GitTargets of the control cluster declare
  check-config   read the configuration and load the plugins, report every problem, exit 2 if there is one
  print-crds     print the custom resource definitions as YAML
  version        print version and commit

Flags (each also as environment variable, ${environmentName('log-level')} for --log-level):
  --config=/etc/gitops-reverser/config.yaml
      Configuration file. A missing one is fine at the default path only.
${settings.join('\n')}

POD_NAMESPACE must name the namespace the operator runs in.
`;
}
