import {
  definePlugin,
  ok,
  refuse,
  type BootstrapFile,
  type FolderShape,
  type KubeObject,
  type Layout,
  type Plugin,
  type Sanitizer,
  type StepPlacement,
  type Writer,
} from '@gitops-reverser/kernel-api';
import { jsonLines } from '@gitops-reverser/kernel-testing';

const part = <T>(point: 'layout' | 'writer'): T => {
  const found = jsonLines.contributions().find((contribution) => contribution.point === point);
  return found?.create({ options: {}, needs: {}, signal: new AbortController().signal }) as T;
};

export interface Picky {
  readonly plugin: Plugin;
  /** Planned objects, in the order the layout was asked. */
  readonly planned: string[];
  /** How many batches it was asked about. */
  batches: number;
  /** The next plans throw. */
  failures: number;
  /** What it says the folder is. */
  shape: FolderShape | undefined;
  /** Sensitive objects whose documents in Git are plain. */
  readonly plaintext: Set<string>;
  /** What the layout, and then the writer, want beside the documents. */
  readonly beside: { layout: readonly BootstrapFile[]; writer: readonly BootstrapFile[] };
}

const dataOf = (object: KubeObject): Readonly<Record<string, unknown>> =>
  (object['data'] ?? {}) as Readonly<Record<string, unknown>>;

/**
 * The kit's layout with opinions: a file called BROKEN or BROKEN.jsonl refuses the folder, once for each of its lines. Of an object its data decides: `refuse` and
 * `refuseAll` are refused, `skip` is left as it is, `escape` is planned there, whatever there is, and `join` is placed there.
 */
export function pickyLayout(): Picky {
  const picky: Picky = {
    planned: [],
    batches: 0,
    failures: 0,
    shape: undefined,
    plaintext: new Set(),
    beside: { layout: [], writer: [] },
    plugin: definePlugin({ id: 'picky', kernelApi: '^1.0', options: {} }, (on) => {
      on.layout({ needs: {}, create: () => layout(picky) });
      on.writer({ needs: {}, create: () => ({ ...part<Writer>('writer'), bootstrap: () => picky.beside.writer }) });
    }),
  };
  return picky;
}

const JOINED = {
  source: 'sibling',
  disposition: 'new_file',
  step: 'a',
  evidenceCount: 2,
  guard: 'path',
} satisfies StepPlacement;

function layout(picky: Picky): Layout {
  const inner = part<Layout>('layout');
  return {
    recognise(folder) {
      const shape = picky.shape === undefined ? {} : { shape: picky.shape };
      const broken = folder.file('BROKEN') ?? folder.file('BROKEN.jsonl');
      if (broken === undefined) return { ...inner.recognise(folder), ...shape };
      const lines = new TextDecoder().decode(broken.read()).trim().split('\n');
      const refusals = lines.map((line) => {
        const message = `BROKEN${line}: expected YAML, found something else; repair or remove it`;
        return { code: 'invalid-yaml', path: 'BROKEN', message };
      });
      return { kind: 'refused', refusals, ...shape };
    },
    documents: (folder) => inner.documents(folder),
    bootstrap: () => picky.beside.layout,
    plan(changes, folder) {
      if (picky.failures > 0) {
        picky.failures -= 1;
        throw new TypeError('a fault of the layout');
      }
      picky.batches += 1;
      for (const { ref } of changes) picky.planned.push(ref.name);
      return inner.plan(changes, folder).map((answer, index) => {
        const change = changes[index];
        if (change?.kind !== 'upsert' || !answer.ok) return answer;
        const data = dataOf(change.object);
        const { name } = change.ref;
        if (data['refuse'] !== undefined)
          return refuse({ code: 'unplaceable-edit', message: `${name}: expected a place, found none; change it` });
        if (data['refuseAll'] !== undefined)
          return refuse({ code: 'ignore-shadows-managed', message: `${name}: its place is ignored`, whole: true });
        if (data['skip'] !== undefined)
          return refuse({
            code: 'non-editable',
            message: `${name}: document 1 of all.jsonl holds an anchor; edit it in Git`,
            path: 'all.jsonl',
            index: 1,
            skip: true,
          });
        const isPlain = change.sensitive && picky.plaintext.has(name);
        return ok(
          answer.value.map((step) => ({
            ...step,
            ...(data['escape'] === undefined ? {} : { path: String(data['escape']) }),
            ...(data['join'] === undefined ? {} : { path: String(data['join']), placement: JOINED }),
            ...(isPlain ? { replacesPlaintext: true as const } : {}),
          })),
        );
      });
    },
  };
}

/** What stays readable of a sensitive object. */
const sealed = ({ apiVersion, kind, metadata: { name, namespace = '' } }: KubeObject): string =>
  `${JSON.stringify({ apiVersion, kind, metadata: { name, namespace }, sealed: true })}\n`;

/** Writes sensitive objects so that nobody can read them. */
export const sealing = definePlugin({ id: 'sealing', kernelApi: '^1.0', options: {} }, (on) => {
  on.writer({
    needs: {},
    create: (): Writer => ({
      encrypts: true,
      accepts: (step) => step.kind === 'put-document' && step.sensitive,
      render: (step) => Promise.resolve(ok(Buffer.from(step.kind === 'put-document' ? sealed(step.object) : ''))),
    }),
  });
});

/** Throws at objects whose data says `choke`. */
export const chokingSanitizer = definePlugin({ id: 'choking', kernelApi: '^1.0', options: {} }, (on) => {
  on.sanitizer({
    needs: {},
    create: (): Sanitizer => ({
      sanitize(object) {
        if (dataOf(object)['choke'] !== undefined) throw new TypeError(`cannot read ${JSON.stringify(dataOf(object))}`);
        return { kind: 'keep', object };
      },
    }),
  });
});
