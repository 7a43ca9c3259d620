import {
  ReverserError,
  type DesiredChange,
  type FolderView,
  type Layout,
  type PlanStep,
  type Refusal,
  type Result,
} from '@gitops-reverser/kernel-api';
import type { Slices } from './slices.js';

export type Answer = Result<readonly PlanStep[], Refusal>;

/** 500: about 10 ms of planning; between two such calls the event loop gets its turn. */
const BATCH = 500;

/**
 * Plans a batch on one folder, in slices. A layout decides about a batch as a whole (two new objects that want one file), so
 * changes of different slices whose steps meet in one file are planned again together.
 */
export async function planBatch(
  layout: Layout,
  changes: readonly DesiredChange[],
  folder: FolderView,
  slices: Slices,
): Promise<readonly Answer[]> {
  if (changes.length <= BATCH) return answersOf(layout, changes, folder);
  const answers: Answer[] = [];
  const sliceByPath = new Map<string, number>();
  const met = new Set<string>();
  for (let from = 0, slice = 0; from < changes.length; from += BATCH, slice += 1) {
    for (const answer of answersOf(layout, changes.slice(from, from + BATCH), folder)) {
      answers.push(answer);
      for (const path of pathsOf(answer)) {
        const known = sliceByPath.get(path);
        if (known === undefined) sliceByPath.set(path, slice);
        else if (known !== slice) met.add(path);
      }
    }
    if (slices.spent()) await slices.rest();
  }
  if (met.size === 0) return answers;
  const again = answers.flatMap((answer, index) => (pathsOf(answer).some((path) => met.has(path)) ? [index] : []));
  const together = again.flatMap((index) => changes[index] ?? []);
  answersOf(layout, together, folder).forEach((answer, place) => {
    const index = again[place];
    if (index !== undefined) answers[index] = answer;
  });
  return answers;
}

const pathsOf = (answer: Answer): readonly string[] => {
  if (!answer.ok) return answer.error.path === undefined ? [] : [answer.error.path];
  return answer.value.map(({ path }) => path);
};

function answersOf(layout: Layout, changes: readonly DesiredChange[], folder: FolderView): readonly Answer[] {
  const answers = layout.plan(changes, folder);
  if (answers.length !== changes.length) {
    throw new ReverserError({
      reason: 'LayoutBroken',
      retry: 'never',
      message: `a layout answered ${answers.length} of ${changes.length} changes; every change needs one answer: report this to the author of the plugin`,
    });
  }
  return answers;
}
