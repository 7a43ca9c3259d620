import type { JsonValue } from '@gitops-reverser/kernel-api';
import fc from 'fast-check';
import { openText, parseDocuments, type SplitText } from '../index.js';
import { appendDocument, hasOtherContent, removeDocument } from './file-edits.js';

const documents = [
  'a: 1\n',
  'a: |+\n  text\n\n',
  'a: |\n  --- no marker\n  ...\n',
  '# head\n\nb: [1,\n  2]\n# foot\n',
  '{"json": true}\n',
  '# only a comment\n',
  '\n',
  'c: >-\n  folded\n  text\n\n\n',
  'list:\n- of\n',
];
const separators = [
  '---\n',
  '--- # note\n',
  '---   \n',
  '...\n',
  '...\n---\n',
  '... # end\n# between\n--- # note\n',
  '---\n---\n',
];
const heads = ['', '---\n', '# licence\n---\n', '# licence\n\n', '\ufeff', '\ufeff---\n'];
const tails = ['', '---\n', '...\n', '---\n# last words\n', '...\n# last words\n'];

const file = fc
  .record({
    head: fc.constantFrom(...heads),
    first: fc.constantFrom(...documents),
    others: fc.array(fc.tuple(fc.constantFrom(...separators), fc.constantFrom(...documents)), { maxLength: 4 }),
    tail: fc.constantFrom(...tails),
    isWindows: fc.boolean(),
    isOpen: fc.boolean(),
  })
  .map(({ head, first, others, tail, isWindows, isOpen }) => {
    let last = first;
    // An end marker below nothing but comments ends no document.
    const parted = (by: string): string => (/^(?:#[^\n]*)?\n$/.test(last) && by.startsWith('...') ? '---\n' : by);
    let text = head + first;
    for (const [separator, document] of others) {
      text += parted(separator) + document;
      last = document;
    }
    text += parted(tail);
    const lines = isWindows ? text.replaceAll('\n', '\r\n') : text;
    return isOpen ? lines.replace(/\r?\n$/, '') : lines;
  });

function open(text: string): SplitText {
  const split = openText(text);
  if (!split.ok) throw new Error(split.error.message);
  return split.value;
}

/** What the file holds, without what says nothing. */
function valuesOf(text: string): readonly JsonValue[] {
  const read = parseDocuments(text);
  if (!read.ok) throw new Error(read.error.message);
  return read.value.flatMap((document) => {
    if (document.state === 'read') return [document.value];
    expect(document.state).toBe('empty');
    return [];
  });
}

describe('20, 6.6: any file', () => {
  it('loses one document and one separator, and every other document stays byte for byte', () => {
    fc.assert(
      fc.property(file, fc.nat(), (text, nth) => {
        const split = open(text);
        fc.pre(split.pieces.length > 0);
        const index = nth % split.pieces.length;
        const result = removeDocument(split, index);

        const bodies = split.pieces.map(({ bodyStart, end }) => text.slice(bodyStart, end));
        const others = bodies.filter((_, at) => at !== index);
        let at = 0;
        for (const body of others) {
          const bare = body.replace(/^\ufeff/, '');
          at = result.indexOf(bare, at);
          expect(at).toBeGreaterThan(-1);
          at += bare.length;
        }
        const without = others.flatMap((body) => valuesOf(body));
        expect(valuesOf(result)).toEqual(without);
        expect(hasOtherContent(split, index)).toBe(without.length > 0);
        expect(result.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'));
      }),
      { numRuns: 300 },
    );
  });

  it('takes one more at its end, and no byte that was there changes', () => {
    fc.assert(
      fc.property(file, (text) => {
        const result = appendDocument(open(text), 'new: 1\nlist:\n  - a\n');

        expect(result.startsWith(text)).toBe(true);
        expect(valuesOf(result)).toEqual([...valuesOf(text), { new: 1, list: ['a'] }]);
        if (text.includes('\r\n')) expect(result).not.toMatch(/[^\r]\n/);
      }),
      { numRuns: 300 },
    );
  });
});
