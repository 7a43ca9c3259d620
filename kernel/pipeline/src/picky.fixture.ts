import {
  definePlugin,
  refuse,
  type BootstrapFile,
  type KubeObject,
  type Layout,
  type Plugin,
  type Sanitizer,
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
  /** What the layout, and then the writer, want beside the documents. */
  readonly beside: { layout: readonly BootstrapFile[]; writer: readonly BootstrapFile[] };
}

const dataOf = (object: KubeObject): Readonly<Record<string, unknown>> =>
  (object['data'] ?? {}) as Readonly<Record<string, unknown>>;

/**
 * The kit's layout with opinions: a file called BROKEN refuses the folder, an object whose data says `refuse` is refused, one
 * that says `escape` is planned outside the folder.
 */
export function pickyLayout(): Picky {
  const picky: Picky = {
    planned: [],
    batches: 0,
    failures: 0,
    beside: { layout: [], writer: [] },
    plugin: definePlugin({ id: 'picky', kernelApi: '^1.0', options: {} }, (on) => {
      on.layout({ needs: {}, create: () => layout(picky) });
      on.writer({ needs: {}, create: () => ({ ...part<Writer>('writer'), bootstrap: () => picky.beside.writer }) });
    }),
  };
  return picky;
}

function layout(picky: Picky): Layout {
  const inner = part<Layout>('layout');
  return {
    recognise: (folder) =>
      folder.file('BROKEN') === undefined
        ? inner.recognise(folder)
        : {
            kind: 'refused',
            refusals: [
              {
                code: 'invalid-yaml',
                path: 'BROKEN',
                message: 'BROKEN: expected YAML, found something else; repair or remove it',
              },
            ],
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
        if (data['refuse'] !== undefined)
          return refuse({
            code: 'unplaceable-edit',
            message: `${change.ref.name}: expected a place, found none; change it`,
          });
        if (data['skip'] !== undefined)
          return refuse({
            code: 'non-editable',
            message: `${change.ref.name}: expected a document without anchors, found one; edit it in Git`,
            skip: true,
          });
        if (data['escape'] === undefined) return answer;
        return { ok: true, value: answer.value.map((step) => ({ ...step, path: String(data['escape']) })) };
      });
    },
  };
}

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
