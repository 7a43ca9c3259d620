import { FOLDER_REASONS } from '@gitops-reverser/crd-reconcilers';
import { kindOf } from '@gitops-reverser/crd-types';
import type { RefusalMeaning } from '@gitops-reverser/kernel-api';
import { pipelineRefusals } from '@gitops-reverser/kernel-pipeline';
import { plugin as plain } from '@gitops-reverser/plugin-plain';
import { folderRefusals, placementRefusals, scanRefusals } from '@gitops-reverser/toolkit-manifests';
import type { GeneratedFile } from './generated-file.js';
import { code, generatedFrom, section, table } from './markdown.js';

/** Who says so: the code is the same wherever it comes from. */
export interface Refused {
  readonly meaning: RefusalMeaning;
  readonly givenBy: readonly string[];
}

const analyzer = 'manifest-analyzer';

/** Every code of a refusal, by code. */
export function allRefusals(): ReadonlyMap<string, Refused> {
  const all = new Map<string, Refused>();
  const givers: readonly (readonly [string, Readonly<Record<string, RefusalMeaning>>])[] = [
    ['the kernel', pipelineRefusals],
    ['plugin plain', plain.refusals],
    [analyzer, { ...folderRefusals, ...scanRefusals }],
  ];
  for (const [giver, meanings] of givers)
    for (const [name, meaning] of Object.entries(meanings)) {
      const known = all.get(name);
      all.set(name, { meaning: known?.meaning ?? meaning, givenBy: [...(known?.givenBy ?? []), giver] });
    }
  return new Map([...all].sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)));
}

const people = {
  'repository-author': 'whoever writes the repository',
  'platform-operator': 'whoever owns the target or runs the operator',
} as const;
const clearedBy = ({ clearedBy: who }: RefusalMeaning): string =>
  who === undefined ? 'nobody with this version' : people[who];

const isPlacement = (name: string): boolean => Object.hasOwn(placementRefusals, name);

/** The reason of `GitPathAccepted` that a code leads to; undefined for what shows elsewhere. */
export function acceptedReason(name: string, { meaning: { level }, givenBy }: Refused): string | undefined {
  if (level === 'document' || level === 'candidate' || givenBy.every((each) => each === analyzer)) return undefined;
  const own = FOLDER_REASONS.find((each) => each.code === name)?.reason;
  return own ?? (level === 'object' ? 'WriteBoundaryRefused' : 'UnsupportedContent');
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
const row = (name: string, refused: Refused): readonly string[] => {
  const { meaning, givenBy } = refused;
  const reason = acceptedReason(name, refused);
  return [
    `<a id="${name}"></a>${code(name)}`,
    sentence(meaning.cause),
    sentence(meaning.remedy),
    clearedBy(meaning),
    reason === undefined ? '' : code(reason),
    givenBy.join(', '),
  ];
};
const headers = ['Code', 'Cause', 'Remedy', 'Cleared by', '`GitPathAccepted`', 'Given by'];

/** `docs/reference/refusals.md`. */
export function refusalFiles(): readonly GeneratedFile[] {
  const all = allRefusals();
  const rowsOf = (holds: (name: string, meaning: RefusalMeaning) => boolean): string =>
    table(
      headers,
      [...all].filter(([name, { meaning }]) => holds(name, meaning)).map(([name, refused]) => row(name, refused)),
    );
  const parts = [
    generatedFrom('what the code declares'),
    '# Refusals',
    'What is not written is refused by name. A code says why, the message which object or file, what was found and what to do. No refusal is for ever: each is looked at again with every snapshot and every new commit that touches the folder.',
    table(
      ['Level', 'What stays unwritten', 'Where it shows'],
      [
        [
          'folder, target',
          'Everything; no byte of the folder is touched',
          '`GitPathAccepted` is `False` with the reason of the table below, `Stalled` is `True`; a Warning event with the same reason; `manifest-analyzer` lists folder codes in `issues[].kind` and `refusalReasons[].code`',
        ],
        [
          'object',
          'The live edit that holds the object, as a whole; a snapshot goes on without the object',
          '`GitPathAccepted` is `False` while it stands; Warning event `WriteRefused`; metric `write_refusals_total{kind}`, for placements also `placement_refusals_total{reason}`',
        ],
        [
          'document',
          'One document, which stays as it is; the rest of the write goes on',
          'Warning event `DocumentSkipped`, for `plaintext-in-git` `PlaintextSecretInHistory`; metric `documents_skipped_total{reason}`',
        ],
        ['candidate', 'Nothing: it is about a folder of a scan', '`refusalReasons[].code` of `manifest-analyzer`'],
      ],
    ),
    section('From a code to a condition', ...reasonTable(all)),
    section(
      'Folder and target',
      rowsOf((_, { level }) => level === 'folder' || level === 'target'),
    ),
    section(
      'Objects: placement',
      'A new document has no place. Documents that exist are edited where they are, whatever the placement says.',
      rowsOf(isPlacement),
    ),
    section(
      'Objects: everything else',
      rowsOf((name, { level }) => level === 'object' && !isPlacement(name)),
    ),
    section(
      'Documents that are skipped',
      rowsOf((_, { level }) => level === 'document'),
    ),
    section(
      'Candidates of a scan',
      rowsOf((_, { level }) => level === 'candidate'),
    ),
  ];
  return [{ path: 'docs/reference/refusals.md', text: `${parts.join('\n\n')}\n` }];
}

function reasonTable(all: ReadonlyMap<string, Refused>): readonly string[] {
  const condition = kindOf('GitTarget').conditions.find(({ type }) => type === 'GitPathAccepted');
  const declared = condition?.rows.find(({ status }) => status === 'False')?.reasons ?? [];
  const rows = declared.map((reason) => {
    const codes = [...all].filter(([name, refused]) => acceptedReason(name, refused) === reason);
    const links = codes.map(([name]) => `[${code(name)}](#${name})`);
    return [code(reason), links.length === 0 ? 'no code of this version' : links.join(', ')];
  });
  return [
    'Of several the first that applies is shown, in this order; all of them stall the target.',
    table(['Reason of `GitPathAccepted`', 'Codes'], rows),
  ];
}
