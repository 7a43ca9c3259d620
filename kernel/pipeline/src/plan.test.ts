import { ok, refuse, type DesiredChange, type FolderView, type Layout } from '@gitops-reverser/kernel-api';
import { aConfigMap, memoryFolder, refTo } from '@gitops-reverser/kernel-testing';
import { planBatch } from './plan.js';
import { slices } from './slices.js';

const change = (name: string): DesiredChange => {
  const object = aConfigMap(name);
  return { kind: 'upsert', ref: refTo(object), object, sensitive: false };
};
const changes = Array.from({ length: 1_200 }, (_, index) => change(`n${index}`));
const folder: FolderView = memoryFolder({});

/** Puts each object where `place` says; two of one batch that want one file are both refused. */
function layout(place: (name: string) => string): Layout & { readonly batches: number[] } {
  const batches: number[] = [];
  return {
    batches,
    recognise: () => ({ kind: 'mine' }),
    documents: () => [],
    plan(batch) {
      batches.push(batch.length);
      const wanted = batch.map(({ ref }) => place(ref.name));
      return batch.map((each, index) => {
        const path = wanted[index] ?? '';
        if (wanted.filter((other) => other === path).length > 1 && path.startsWith('single'))
          return refuse({ code: 'multi_document_target', path, message: `${path} is wanted twice` });
        return ok(
          each.kind === 'upsert'
            ? [{ kind: 'put-document' as const, path, ref: each.ref, object: each.object, sensitive: false }]
            : [],
        );
      });
    },
  };
}

describe('planning a large batch', () => {
  it('FC-OPS-4: goes in slices, and the event loop gets its turn between them', async () => {
    const slow = layout((name) => `${name}.yaml`);
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 1);
    const plan = slow.plan.bind(slow);
    slow.plan = (batch, view) => {
      for (const until = performance.now() + 15; performance.now() < until;);
      return plan(batch, view);
    };

    const answers = await planBatch(slow, changes, folder, slices());
    clearInterval(ticking);

    expect(slow.batches).toEqual([500, 500, 200]);
    expect(answers.map((answer) => (answer.ok ? answer.value[0]?.path : undefined))).toEqual(
      changes.map(({ ref }) => `${ref.name}.yaml`),
    );
    expect(turns).toBeGreaterThanOrEqual(2);
  });

  it('decides together about changes of different slices that meet in one file', async () => {
    const meeting = layout((name) => (name === 'n0' || name === 'n1100' ? 'single.yaml' : `${name}.yaml`));

    const answers = await planBatch(meeting, changes, folder, slices());

    expect(answers.flatMap((answer, index) => (answer.ok ? [] : [changes[index]?.ref.name]))).toEqual(['n0', 'n1100']);
    expect(meeting.batches).toEqual([500, 500, 200, 2]);
  });

  it('asks once about a small one', async () => {
    const small = layout((name) => `${name}.yaml`);

    await planBatch(small, changes.slice(0, 500), folder, slices());

    expect(small.batches).toEqual([500]);
  });

  it('names a layout that does not answer every change', async () => {
    const short = layout(() => 'x');
    short.plan = () => [];

    await expect(planBatch(short, changes.slice(0, 3), folder, slices())).rejects.toThrow(/answered 0 of 3 changes/);
  });
});
