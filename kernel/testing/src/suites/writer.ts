import type { Plugin, PlanStep, Refusal, Result } from '@gitops-reverser/kernel-api';
import { toBytes, toText } from '../git-objects.js';
import { memoryFolder } from '../memory-folder.js';
import { deepFreeze } from '../objects.js';
import { within } from '../waiting.js';
import { bootstrapOf } from './bootstrap.js';
import { everyPoint } from './every-point.js';
import { ReasonBook, itWith, withStarted, type Instance, type SuiteFacts } from './instance.js';

export interface WriterSuite extends SuiteFacts {
  /** A step the writer accepts: a document to put, or a value to set. */
  readonly step: PlanStep;
  /** The file before the step, where the step needs one. */
  readonly before?: string | Uint8Array;
  /** A file that holds other documents, and the parts of it that must survive byte for byte. Absent: no such test. */
  readonly siblings?: { readonly before: string | Uint8Array; readonly keeps: readonly string[] };
  /** A file the writer must refuse to touch. Absent: no such test. */
  readonly unreadable?: string | Uint8Array;
  /** A step the writer must leave to others. Absent: no such test. */
  readonly foreign?: PlanStep;
  /** Texts that must never stand in the output of a writer that encrypts; by default every string value of the step's object. */
  readonly plaintext?: readonly string[];
}

type Rendered = Result<Uint8Array | 'delete-file', Refusal>;

/** The contract of a writer. */
export function describeWriter(plugin: Plugin, suite: WriterSuite): void {
  describe(`writer of ${plugin.id}`, () => {
    everyPoint(plugin, 'writer', suite, () => ({}));
    const reasons = new ReasonBook(plugin);
    const step = deepFreeze(structuredClone(suite.step));
    const before = suite.before === undefined ? undefined : toBytes(suite.before);
    const over = (act: (writer: Instance<'writer'>) => Promise<void>): Promise<void> =>
      withStarted(plugin, 'writer', suite, () => ({}), act);
    const never = new AbortController().signal;
    const render = (writer: Instance<'writer'>, what: PlanStep, onto: Uint8Array | undefined): Promise<Rendered> =>
      within(writer.render(what, onto, never), `rendering of ${what.path}`);
    const bytes = (rendered: Rendered): Uint8Array => {
      if (!rendered.ok) throw new Error(`refused: ${rendered.error.code}: ${rendered.error.message}`);
      if (rendered.value === 'delete-file') throw new Error('asked to delete the file');
      return rendered.value;
    };

    it('accepts the step, without looking at anything else', async () => {
      await over((writer) => {
        expect(writer.accepts(step)).toBe(true);
        expect(writer.accepts(step)).toBe(true);
        return Promise.resolve();
      });
    });

    itWith(suite.foreign, 'leaves a foreign step to others', async (foreign) => {
      await over((writer) => {
        expect(writer.accepts(foreign)).toBe(false);
        return Promise.resolve();
      });
    });

    it('renders an unchanged step over its own output to the very same bytes', async () => {
      await over(async (writer) => {
        const once = bytes(await render(writer, step, before));
        const twice = bytes(await render(writer, step, once.slice()));

        expect(toText(twice)).toBe(toText(once));
        expect(Buffer.compare(twice, once)).toBe(0);
      });
    });

    it('does so after a restart as well', async () => {
      let once: Uint8Array = new Uint8Array();
      await over(async (writer) => void (once = bytes(await render(writer, step, before))));
      await over(async (writer) => {
        expect(toText(bytes(await render(writer, step, once)))).toBe(toText(once));
      });
    });

    it('names only files beside its documents, the same ones every time', async () => {
      await over((writer) => {
        for (const folder of [memoryFolder({}), memoryFolder(before === undefined ? {} : { [step.path]: before })]) {
          const paths = bootstrapOf(writer, folder).map(({ path }) => path);

          expect(paths).not.toContain(step.path);
        }
        return Promise.resolve();
      });
    });

    it('does not touch the bytes it is handed', async () => {
      await over(async (writer) => {
        const own = bytes(await render(writer, step, before));
        const copy = own.slice();
        await render(writer, step, own);

        expect(Buffer.compare(own, copy)).toBe(0);
      });
    });

    itWith(
      suite.siblings,
      'keeps sibling documents byte for byte, while it puts and when it drops',
      async (siblings) => {
        await over(async (writer) => {
          const put = bytes(await render(writer, step, toBytes(siblings.before)));
          for (const part of siblings.keeps) expect(toText(put)).toContain(part);

          if (step.kind !== 'put-document') return;
          const dropped = bytes(await render(writer, { kind: 'drop-document', path: step.path, ref: step.ref }, put));
          for (const part of siblings.keeps) expect(toText(dropped)).toContain(part);
        });
      },
    );

    it('asks to delete the file once its last document is dropped', async () => {
      if (step.kind !== 'put-document' || before !== undefined) return;
      await over(async (writer) => {
        const drop: PlanStep = { kind: 'drop-document', path: step.path, ref: step.ref };
        if (!writer.accepts(drop)) return;
        const put = bytes(await render(writer, step, undefined));

        expect(await render(writer, drop, put)).toEqual({ ok: true, value: 'delete-file' });
      });
    });

    it('never lets plaintext out when it encrypts', async () => {
      await over(async (writer) => {
        if (!writer.encrypts) return;
        const text = toText(bytes(await render(writer, step, before)));

        const secrets = suite.plaintext ?? (step.kind === 'put-document' ? valuesOf(step.object['data']) : []);
        expect(secrets.length).toBeGreaterThan(0);
        for (const secret of secrets) {
          expect(text).not.toContain(secret);
          expect(text).not.toContain(Buffer.from(secret, 'base64').toString());
          expect(text).not.toContain(Buffer.from(secret).toString('base64'));
        }
      });
    });

    itWith(
      suite.unreadable,
      'refuses a file it cannot read with a registered code, and says which file',
      async (unreadable) => {
        await over(async (writer) => {
          const rendered = await render(writer, step, toBytes(unreadable));

          expect(rendered.ok).toBe(false);
          if (!rendered.ok) {
            reasons.check(rendered.error.code);
            expect(rendered.error.message).toMatch(/.{20,}/);
          }
        });
      },
    );

    it('ends promptly when its signal is aborted', async () => {
      await over(async (writer) => {
        const rendering = writer.render(step, before, AbortSignal.abort()).then(
          () => undefined,
          (error: unknown) => reasons.checkError(error),
        );

        await within(rendering, 'the end of an aborted rendering', 1_000);
      });
    });
  });
}

/** Every text value below, long enough to be told from chance. */
function valuesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.length >= 6 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(valuesOf);
}
