import type {
  DesiredChange,
  KubeObject,
  ObjectRef,
  PlanStep,
  Plugin,
  Refusal,
  ResourceType,
  Result,
} from '@gitops-reverser/kernel-api';
import { aConfigMap, aDeployment, configMaps, deepFreeze, deployments, refTo } from '../objects.js';
import { memoryFolder, type FileContents } from '../memory-folder.js';
import { bootstrapOf } from './bootstrap.js';
import { everyPoint } from './every-point.js';
import { ReasonBook, itWith, start, type Instance, type SuiteFacts } from './instance.js';

export interface LayoutSuite extends SuiteFacts {
  /** A folder of this layout that already means `object`, written at a place the layout would not choose itself. */
  readonly existing: {
    readonly files: FileContents;
    readonly object: KubeObject;
    readonly path: string;
    readonly type?: ResourceType;
  };
  /** The same object with another value; an edit of it must go to `existing.path`. */
  readonly changed: KubeObject;
  /** A folder the layout must refuse. Absent: no such test. */
  readonly refused?: FileContents;
  /** A folder that belongs to another layout. Absent: no such test. */
  readonly foreign?: FileContents;
  /** Whether an empty folder is this layout's; default true. */
  readonly takesEmptyFolder?: boolean;
}

type Planned = Result<readonly PlanStep[], Refusal>;

/** The contract of a layout. */
export function describeLayout(plugin: Plugin, suite: LayoutSuite): void {
  describe(`layout of ${plugin.id}`, () => {
    everyPoint(plugin, 'layout', suite, () => ({}));
    const reasons = new ReasonBook(plugin);
    const { existing } = suite;
    const type = existing.type;
    const ref = refTo(existing.object, type);
    const keep = deepFreeze<DesiredChange>({ kind: 'upsert', ref, object: existing.object, sensitive: false });
    const edit = deepFreeze<DesiredChange>({ kind: 'upsert', ref, object: suite.changed, sensitive: false });
    const news = [
      { object: aConfigMap('brand-new'), of: configMaps },
      { object: aDeployment({ name: 'brand-new', namespace: 'elsewhere' }), of: deployments },
    ].map(({ object, of }) =>
      deepFreeze<DesiredChange>({ kind: 'upsert', ref: refTo(object, of), object, sensitive: false }),
    );
    const folder = memoryFolder(existing.files);
    const empty = memoryFolder({});
    const over = async (act: (layout: Instance<'layout'>) => void): Promise<void> => {
      const born = await start(plugin, 'layout', suite);
      try {
        act(born.instance);
      } finally {
        await born[Symbol.asyncDispose]();
      }
    };
    const stepsOf = (planned: Planned | undefined): readonly PlanStep[] => {
      if (planned === undefined) throw new Error('a plan has one answer for each change');
      if (!planned.ok) throw new Error(`refused: ${planned.error.code}: ${planned.error.message}`);
      return planned.value;
    };

    it('recognises its own folder, the same way every time', async () => {
      await over((layout) => {
        expect([layout.recognise(folder).kind, layout.recognise(memoryFolder(existing.files)).kind]).toEqual([
          'mine',
          'mine',
        ]);
        if (suite.takesEmptyFolder !== false) expect(layout.recognise(empty).kind).toBe('mine');
      });
    });

    itWith(suite.foreign, 'leaves a foreign folder to its layout', async (foreign) => {
      await over((layout) => {
        expect(layout.recognise(memoryFolder(foreign)).kind).toBe('not-mine');
      });
    });

    itWith(suite.refused, 'refuses what it cannot stand for, with registered codes', async (refused) => {
      await over((layout) => {
        const recognition = layout.recognise(memoryFolder(refused));

        expect(recognition.kind).toBe('refused');
        if (recognition.kind !== 'refused') return;
        expect(recognition.refusals.length).toBeGreaterThan(0);
        for (const { code, message } of recognition.refusals) {
          reasons.check(code);
          expect(message).toMatch(/.{20,}/);
        }
      });
    });

    it('lists the documents the folder holds, whoever wrote them', async () => {
      await over((layout) => {
        const { group, kind, namespace, name } = ref;
        const listed = layout.documents(folder).map((document) => ({ ...document }));

        expect(listed).toContainEqual(
          namespace === undefined
            ? { group, kind, name, path: existing.path }
            : { group, kind, namespace, name, path: existing.path },
        );
        expect(layout.documents(empty)).toEqual([]);
      });
    });

    it('plans nothing for an object the folder already means', async () => {
      await over((layout) => {
        expect(stepsOf(layout.plan([keep], folder)[0])).toEqual([]);
      });
    });

    it('edits an existing document where it lies', async () => {
      await over((layout) => {
        const steps = stepsOf(layout.plan([edit], folder)[0]);

        expect(steps.length).toBeGreaterThan(0);
        expect([...new Set(steps.map(({ path }) => path))]).toEqual([existing.path]);
      });
    });

    it('drops a document where it lies, and nothing for one that is not there', async () => {
      await over((layout) => {
        const absent: ObjectRef = { ...ref, name: 'never-there' };
        const [gone, nothing] = layout.plan(
          [
            { kind: 'delete', ref },
            { kind: 'delete', ref: absent },
          ],
          folder,
        );

        expect(stepsOf(gone).map(({ path }) => path)).toContain(existing.path);
        expect(stepsOf(nothing)).toEqual([]);
      });
    });

    it('plans the same steps for the same folder and change', async () => {
      const plans: unknown[] = [];
      for (let time = 0; time < 2; time += 1) {
        await over((layout) => {
          plans.push(layout.plan([edit, ...news], memoryFolder(existing.files)), layout.plan([edit, ...news], folder));
        });
      }

      for (const plan of plans) expect(plan).toEqual(plans[0]);
    });

    it('answers in the order of the changes, and not depending on it', async () => {
      await over((layout) => {
        const changes = [edit, ...news];
        const forward = layout.plan(changes, folder);
        const backward = layout.plan([...changes].reverse(), folder);

        expect(forward.length).toBe(changes.length);
        expect([...backward].reverse()).toEqual(forward);
      });
    });

    it('plans nothing outside the folder', async () => {
      await over((layout) => {
        for (const view of [folder, empty]) {
          const paths = layout
            .plan([edit, ...news], view)
            .flatMap((planned) => stepsOf(planned).map(({ path }) => path));
          const outside = paths.filter(
            (path) => path === '' || path.split('/').some((name) => ['', '.', '..', '.git'].includes(name)),
          );

          expect(outside).toEqual([]);
        }
      });
    });

    it('names only files beside its documents, the same ones every time, and the folder stays its own with them', async () => {
      await over((layout) => {
        for (const view of [folder, empty]) {
          const files = bootstrapOf(layout, view);
          const more = Object.fromEntries(files.map(({ path, bytes }) => [path, bytes]));
          const contents = { ...more, ...(view === folder ? existing.files : {}) };
          if (files.length === 0 || (view === empty && suite.takesEmptyFolder === false)) continue;

          expect(layout.recognise(memoryFolder(contents)).kind).toBe('mine');
          expect(layout.documents(memoryFolder(contents))).toEqual(layout.documents(view));
        }
      });
    });

    it('gives a new object a place of its own', async () => {
      await over((layout) => {
        const puts = layout
          .plan(news, folder)
          .map((planned) => stepsOf(planned).filter(({ kind }) => kind === 'put-document'));

        expect(puts.map(({ length }) => length)).toEqual(news.map(() => 1));
      });
    });
  });
}
