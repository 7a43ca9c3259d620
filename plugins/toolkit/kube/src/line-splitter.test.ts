import fc from 'fast-check';
import { LineSplitter } from './line-splitter.js';

it('gives the same lines however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''))),
      fc.array(fc.nat(20)),
      (lines, cuts) => {
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        const splitter = new LineSplitter(1_000_000);
        const found: string[] = [];
        let from = 0;
        for (const cut of [...cuts, bytes.length]) {
          for (const each of splitter.push(bytes.subarray(from, from + cut))) found.push(each.toString('utf8'));
          from += cut;
        }

        expect(found).toEqual(lines);
        expect(splitter.hasRemainder).toBe(false);
      },
    ),
  );
});

it('a line may have the limit and no byte more', () => {
  const exact = new LineSplitter(4);
  const over = new LineSplitter(4);

  expect([...exact.push(Buffer.from('abcd\nef'))].map(String)).toEqual(['abcd']);
  expect([exact.isOversized, exact.hasRemainder]).toEqual([false, true]);
  expect([...over.push(Buffer.from('a\nbcd')), ...over.push(Buffer.from('ef\n'))].map(String)).toEqual(['a']);
  expect(over.isOversized).toBe(true);
});
