import { deployments, toFile, type BenchDeployment } from '../deployments.js';
import { runProgram } from './child.js';
import { openYamlLibrary, toText } from './yaml-library.js';

export interface EditFileRivalAsk {
  readonly documents: number;
  readonly samples: number;
}

export interface EditFileRivalAnswer {
  /** Parse all documents, set one field, write all documents. */
  readonly editMs: readonly number[];
  /** Lines that are not as they should be, of the last sample. */
  readonly otherLines: number;
}

await runProgram(async ({ documents, samples }: EditFileRivalAsk): Promise<EditFileRivalAnswer> => {
  const yaml = await openYamlLibrary();
  const all = [...deployments(documents)];
  const text = toFile(all);
  const editMs: number[] = [];
  let otherLines = 0;
  for (let nth = 0; nth < samples; nth++) {
    const at = (nth * 257) % documents;
    const edited = { ...(all[at] as BenchDeployment), replicas: 99 };

    const beganMs = performance.now();
    const read = yaml.parseAllDocuments(text);
    read[at]?.setIn(['spec', 'replicas'], 99);
    const written = toText(read);
    editMs.push(performance.now() - beganMs);

    const wanted = toFile(all.with(at, edited));
    if (!written.includes('replicas: 99')) throw new Error('the rival did not make the edit');
    otherLines = countOtherLines(wanted, written);
  }
  return { editMs, otherLines };
});

/** Lines that differ in their place; all of them when one is missing. */
function countOtherLines(wanted: string, written: string): number {
  const [left, right] = [wanted.split('\n'), written.split('\n')];
  if (left.length !== right.length) return right.length;
  return left.filter((line, at) => line !== right[at]).length;
}
