import fc from 'fast-check';
import { splitDocuments } from './index.js';

const bodies = (text: string): string[] =>
  splitDocuments(text).pieces.map((piece) => text.slice(piece.bodyStart, piece.end));

describe('splitting', () => {
  it.each<[string, string, string[]]>([
    ['one document', 'a: 1\n', ['a: 1\n']],
    ['two', 'a: 1\n---\nb: 2\n', ['a: 1\n', 'b: 2\n']],
    ['a leading separator makes no empty document', '---\na: 1\n', ['a: 1\n']],
    ['a final separator with nothing after it makes none either', 'a: 1\n---\n\n', ['a: 1\n']],
    ['a comment before the first separator belongs to the first document', '# licence\n\n---\na: 1\n', ['a: 1\n']],
    ['an empty document between two', 'a: 1\n---\n---\nb: 2\n', ['a: 1\n', '', 'b: 2\n']],
    ['a document of comments', 'a: 1\n---\n# nothing\n', ['a: 1\n', '# nothing\n']],
    ['content on the separator line', '--- {a: 1}\n--- # c\nb: 2\n', ['{a: 1}\n', '# c\nb: 2\n']],
    ['an indented separator is content', 'a: |\n  x\n  ---\n  y\n', ['a: |\n  x\n  ---\n  y\n']],
    ['more dashes are content', 'a: |\n  x\n----\n', ['a: |\n  x\n----\n']],
    ['CRLF', 'a: 1\r\n---\r\nb: 2\r\n', ['a: 1\r\n', 'b: 2\r\n']],
    ['an end marker, after which a bare document follows', 'a: 1\n...\nb: 2\n', ['a: 1\n...\n', 'b: 2\n']],
    ['an end marker before a separator', 'a: 1\n...\n---\nb: 2\n', ['a: 1\n...\n', 'b: 2\n']],
    ['a final end marker', 'a: 1\n...\n\n', ['a: 1\n...\n']],
    ['nothing', '', []],
    ['only comments', '# a\n\n', []],
    ['only a separator', '---\n', []],
    ['a byte order mark', '\ufeff---\na: 1\n', ['a: 1\n']],
    ['a byte order mark behind a separator', 'a: 1\n---\n\ufeffb: 2\n', ['a: 1\n', 'b: 2\n']],
    ['an end marker with a comment', 'a: 1\n... # end\n# c\n---\nb: 2\n', ['a: 1\n... # end\n', 'b: 2\n']],
    [
      'a marker within a block scalar or quotes, where YAML ends the document too',
      'a: |\n  x\n---\nb: "\n---\n',
      ['a: |\n  x\n', 'b: "\n'],
    ],
    ['a block scalar on the separator line', '--- |\n  x\n  ---\n--- >-\n  y\n', ['|\n  x\n  ---\n', '>-\n  y\n']],
    ['a carriage return alone ends no line', 'a: 1\r---\rb: 2\n', ['a: 1\r---\rb: 2\n']],
    ['no final line feed', 'a: 1\n---\nb: 2', ['a: 1\n', 'b: 2']],
    ['a separator at the very end', 'a: 1\n---', ['a: 1\n']],
  ])('%s', (_, text, expected) => {
    expect(bodies(text)).toEqual(expected);
  });

  it('is byte-faithful: pieces and tail are the file, by text and by bytes', () => {
    const part = fc.constantFrom(
      'a: 1\n',
      '---\n',
      '--- ',
      '...\n',
      '# é\n',
      '\n',
      'b: "😀"\n',
      '%YAML 1.2\n',
      '\ufeff',
      ' ',
      '\r\n',
      '--- |\n  ---\n',
      '---\t\n',
      '---\r\n',
      '--- # c\n',
      '... # c\n',
      '\r',
      '\u2028',
      '\u{10000}',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const bytes = Buffer.from(text);
        const { pieces, tail } = splitDocuments(text);

        const byText = pieces.map((piece) => text.slice(piece.start, piece.end)).join('') + text.slice(tail.start);
        const byBytes = Buffer.concat([
          ...pieces.map((piece) => bytes.subarray(piece.byteStart, piece.byteEnd)),
          bytes.subarray(tail.byteStart),
        ]);
        const lines = pieces.map((piece) => text.slice(0, piece.start).split('\n').length);
        return (
          byText === text &&
          byBytes.equals(bytes) &&
          pieces.every(
            (piece, at) => piece.line === lines[at] && piece.bodyStart >= piece.start && piece.bodyStart <= piece.end,
          )
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('notes directives', () => {
    expect(splitDocuments('%YAML 1.2\n---\na: 1\n---\nb: 2\n').pieces.map((piece) => piece.hasDirectives)).toEqual([
      true,
      false,
    ]);
  });
});
