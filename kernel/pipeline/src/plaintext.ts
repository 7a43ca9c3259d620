import type { PlanStep } from '@gitops-reverser/kernel-api';
import type { Found } from './standing.js';

/** What a plan says about plain text of a sensitive object in Git; its value is never part of it. */
export function plaintextIn(steps: readonly PlanStep[]): Found | undefined {
  for (const step of steps) {
    if (step.kind !== 'put-document' || !step.sensitive || step.replacesPlaintext !== true) continue;
    const { ref } = step;
    // Its document may leave its file for one of its own.
    const path = steps.find(({ kind }) => kind === 'drop-document')?.path ?? step.path;
    const name = `${ref.kind} ${ref.namespace === undefined ? '' : `${ref.namespace}/`}${ref.name}`;
    return {
      code: 'plaintext-in-git',
      message: `${name}: expected an encrypted document in ${path}, found plain text; older commits keep the value whatever is written now: rotate it`,
      path,
      ref,
    };
  }
  return undefined;
}
