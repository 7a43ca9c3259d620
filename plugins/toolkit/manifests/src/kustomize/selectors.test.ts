import fc from 'fast-check';
import { compilePattern } from './selectors.js';

describe('the pattern of a patch target (chapter 20, 8.3: no foreign pattern is ever run)', () => {
  it.each(['*', '+a', '(a', 'a)', 'a**', '(|'])('%s is none to kustomize either', (pattern) => {
    expect(compilePattern(pattern)).toBe('invalid');
  });

  it.each(['[ab]', 'a{2}', '\\d', 'a*?', '(?i)a', 'a$b', 'x'.repeat(300)])('%s needs more than this', (pattern) => {
    expect(compilePattern(pattern)).toBe('unsupported');
  });

  it('is in no hurry to backtrack', () => {
    const matches = compilePattern(`${'(a*)*'.repeat(20)}b`);

    expect(typeof matches === 'function' && matches('a'.repeat(253))).toBe(false);
  });

  it('matches what an engine matches', () => {
    const part = fc.constantFrom('a', 'b', '.', '(', ')', '|', '*', '+', '?', '(?:', '\\.', '-');
    const pattern = fc.array(part, { maxLength: 10 }).map((parts) => parts.join(''));
    const text = fc
      .array(fc.constantFrom('a', 'b', '-', '.'), { maxLength: 6 })
      .map((characters) => characters.join(''));
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
        const matches = compilePattern(source);
        let engine: RegExp | undefined;
        try {
          engine = new RegExp(source);
          engine = new RegExp(`^(?:${source})$`);
        } catch {
          engine = undefined;
        }

        if (typeof matches === 'function') expect(texts.map(matches)).toEqual(texts.map((each) => engine?.test(each)));
        else if (matches === 'invalid') expect(engine).toBeUndefined();
      }),
      { seed: 20261130, numRuns: 5_000 },
    );
  });
});
