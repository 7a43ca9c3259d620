import { parseArgs } from 'node:util';

export interface DemoArguments {
  /** Where kubeconfig and repository are kept; absent: a folder that goes when the demo goes. */
  readonly dir?: string;
  /** Makes one edit, shows its commit and ends. */
  readonly once: boolean;
  /** Port of the API server; 0 takes a free one. */
  readonly port: number;
}

export type ParsedArguments =
  | { readonly kind: 'run'; readonly options: DemoArguments }
  | { readonly kind: 'help' }
  | { readonly kind: 'refused'; readonly problem: string };

export const usage = `Usage: npm run demo -- [--dir DIR] [--once] [--port PORT]

Starts a Kubernetes-like API server, a Git host and the operator on loopback, and shows each commit as it lands.

  --dir DIR    put kubeconfig, repo.git and operator/operator.log there and keep them (default: a folder removed at the end)
  --once       make one edit through the API, show its commit, exit
  --port PORT  port of the API server (default: a free one)
  --help       this text
`;

/** What the command line asks for. */
export function parseArguments(args: readonly string[]): ParsedArguments {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        dir: { type: 'string' },
        once: { type: 'boolean', default: false },
        port: { type: 'string', default: '0' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }));
  } catch (error) {
    return { kind: 'refused', problem: (error as Error).message };
  }
  if (values.help) return { kind: 'help' };
  if (values.dir === '') return { kind: 'refused', problem: '--dir needs the name of a folder, it is empty' };
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535)
    return { kind: 'refused', problem: `--port needs a number from 0 to 65535, not "${values.port}"` };
  return {
    kind: 'run',
    options: { once: values.once, port, ...(values.dir === undefined ? {} : { dir: values.dir }) },
  };
}
