import { retiredFields, type RetiredField } from '../retired.js';
import type { AdmissionCase } from './admission-case.js';
import { edited } from './edit.js';
import { anObject, fullSpecsOf } from './full-objects.js';

const carrying = (entry: RetiredField): unknown =>
  entry.refusedAt ??
  { string: 'old', integer: 1, boolean: true, object: { name: 'old' }, strings: ['old'] }[entry.type];
const object = (entry: RetiredField, value: unknown): AdmissionCase['object'] => {
  const path = entry.path.replaceAll('[]', '.0').split('.').slice(1);
  return anObject(entry.kind, 'retired', edited(fullSpecsOf(entry.kind)[0], path, value));
};

/** Each retired spelling in an otherwise legal object, and what an old default may still hold (RT-3). */
export function retiredCases(): readonly AdmissionCase[] {
  return retiredFields.flatMap((entry) => [
    {
      name: `${entry.kind}: ${entry.path} is refused by name`,
      id: entry.path,
      object: object(entry, carrying(entry)),
      refused: entry.message,
    },
    ...(entry.refusedAt === undefined
      ? []
      : [
          {
            name: `${entry.kind}: ${entry.path} at a value that carries no intent is tolerated`,
            id: entry.path,
            object: object(entry, typeof entry.refusedAt === 'boolean' ? !entry.refusedAt : 'Cluster'),
          },
        ]),
  ]);
}
