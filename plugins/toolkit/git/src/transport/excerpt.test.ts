import { excerpt } from './excerpt.js';

describe('excerpt', () => {
  it('is one bounded line without control characters', () => {
    expect(excerpt(`a\r\nb\u001b[31m${'x'.repeat(300)}`, 10)).toBe('a b [31mx…');
  });
});
