import { validateStored, type KindName } from '@gitops-reverser/crd-types';

/** The gate `Validated` for what today's admission would refuse; undefined when nothing is wrong. */
export function storedProblem(kind: KindName, object: unknown) {
  const problems = validateStored(kind, object);
  const first = problems.find(({ reason }) => reason === 'RetiredField') ?? problems[0];
  if (first === undefined) return undefined;
  const more = problems.length === 1 ? '' : ` and ${problems.length - 1} more`;
  return { type: 'Validated', status: 'False', reason: first.reason, message: `${first.message}${more}` } as const;
}
