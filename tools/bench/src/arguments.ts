import { parseArgs } from 'node:util';

type Workload = 'W1' | 'W2' | 'edit';
const workloads: readonly string[] = ['W1', 'W2', 'edit'] satisfies Workload[];

export interface BenchArguments {
  readonly workloads: ReadonlySet<Workload>;
  /** File the figures are written to. */
  readonly json?: string;
  /** Against etcd and kube-apiserver instead of the embedded API server. */
  readonly isReal: boolean;
  /** Edits of W2, and of `edit`; absent: as many as each takes by itself. */
  readonly samples?: number;
  readonly objects: number;
  readonly namespaces: number;
  /** Documents of the long file. */
  readonly documents: number;
  /** Files of the folder whose model is made. */
  readonly files: number;
  /** Files of the repository that is scanned. */
  readonly entries: number;
  /** Folder for CPU profiles of the operator, or of the programs of `edit`. */
  readonly profile?: string;
}

export type ParsedArguments =
  | { readonly kind: 'run'; readonly options: BenchArguments }
  | { readonly kind: 'help' }
  | { readonly kind: 'refused'; readonly problem: string };

export const usage = `Usage: npm run bench -- W1 W2 edit [options]

  W1    snapshot of 10k ConfigMaps of 400 B in 50 namespaces into an empty repository
  W2    one edit at 10k files, window 0, until the ref is visible; beside the git CLI in the same run
  edit  files as people write them, without a cluster: one field of one document among a thousand, the model of a
        folder of 10k files, the analyzer over 50k files; beside the yaml library in the same run

  --json FILE      write the figures there
  --real           against etcd and kube-apiserver (built once, or KUBEBUILDER_ASSETS)
  --samples N      edits: of W2, 5.7 s each (default 40); of edit (default 200)
  --objects N      ConfigMaps (default 10000)
  --namespaces N   namespaces they are spread over (default 50)
  --documents N    edit: documents of the long file (default 1000)
  --files N        edit: files of the folder (default 10000)
  --entries N      edit: files of the repository (default 50000)
  --profile DIR    CPU profiles of the operator, or of the programs of edit
  --help           this text
`;

const counted = ['objects', 'namespaces', 'documents', 'files', 'entries'] as const;

/** What the command line asks for; without a workload, those of the main job. */
export function parseArguments(args: readonly string[]): ParsedArguments {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'string' },
        real: { type: 'boolean', default: false },
        samples: { type: 'string' },
        objects: { type: 'string', default: '10000' },
        namespaces: { type: 'string', default: '50' },
        documents: { type: 'string', default: '1000' },
        files: { type: 'string', default: '10000' },
        entries: { type: 'string', default: '50000' },
        profile: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return { kind: 'refused', problem: (error as Error).message };
  }
  const { values, positionals } = parsed;
  if (values.help) return { kind: 'help' };
  const unknown = positionals.filter((name) => !workloads.includes(name));
  if (unknown.length > 0)
    return {
      kind: 'refused',
      problem: `there is no workload ${unknown.join(', ')}; there are ${workloads.join(', ')}`,
    };
  const counts = { objects: 0, namespaces: 0, documents: 0, files: 0, entries: 0 };
  for (const name of [...counted, 'samples'] as const) {
    const text = values[name];
    if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text))
      return { kind: 'refused', problem: `--${name} needs a number from 1 to 999999, not "${text}"` };
    if (name !== 'samples') counts[name] = Number(text);
  }
  for (const name of ['json', 'profile'] as const)
    if (values[name] === '') return { kind: 'refused', problem: `--${name} needs a name, it is empty` };
  return {
    kind: 'run',
    options: {
      workloads: new Set((positionals.length === 0 ? ['W1', 'W2'] : positionals) as Workload[]),
      isReal: values.real,
      ...counts,
      ...(values.samples === undefined ? {} : { samples: Number(values.samples) }),
      ...(values.json === undefined ? {} : { json: values.json }),
      ...(values.profile === undefined ? {} : { profile: values.profile }),
    },
  };
}
