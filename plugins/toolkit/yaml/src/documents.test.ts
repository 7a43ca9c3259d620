import type { JsonValue } from '@gitops-reverser/kernel-api';
import { identifyDocuments, parseDocuments, type YamlDocument } from './index.js';

function read(input: string | Uint8Array): readonly YamlDocument[] {
  const result = parseDocuments(input);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
function only(text: string): YamlDocument {
  const documents = read(text);
  expect(documents.length).toBe(1);
  return documents[0] as YamlDocument;
}
const valueOf = (text: string): JsonValue => {
  const document = only(text);
  if (document.state !== 'read') throw new Error(`${document.state}: ${JSON.stringify(document)}`);
  return document.value;
};
const problemOf = (input: string | Uint8Array): string => {
  const result = parseDocuments(input);
  if (!result.ok) return result.error.message;
  const document = result.value[0];
  return document?.state === 'invalid' ? document.problem.message : `no problem: ${JSON.stringify(document)}`;
};

describe('values as the appliers read them', () => {
  it.each<[string, JsonValue]>([
    ['yes', true],
    ['Off', false],
    ['y', true],
    ['0644', 420],
    ['0o17', 15],
    ['1_000', 1000],
    ['0b11', 3],
    ['0x1F', 31],
    ['0b-11', -3],
    ['0xffffffffffffffffff', '0xffffffffffffffffff'],
    ['07777777777777777777777777', 7777777777777777777777777],
    ['12:30:45', '12:30:45'],
    ['2024-01-01', '2024-01-01'],
    ['08', 8],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', 9223372036854775808n],
    ['-9007199254740993', -9007199254740993n],
    ['1.0', 1],
    ['.inf', Infinity],
    ['~', null],
    ['', null],
    ['"yes"', 'yes'],
    ["'0644'", '0644'],
    ['!!str yes', 'yes'],
    ['!!int "5"', 5],
    ['!!float 5', 5],
    ['!!bool "yes"', true],
    ['!!null ""', null],
    ['|2\n    a\n    \n', '  a\n  \n'],
    ['|2-\n    a\n  \n   \n', '  a\n\n '],
    ['>-2\n    a\n  b\n   \n  ', '  a\nb\n '],
    ['|2\n    a\n  \n', '  a\n'],
    ['|2+\n    a\n    ', '  a\n  \n'],
    ['|4\n    a\n    \n', 'a\n'],
    ['[yes, "no", {a: 0644}]', [true, 'no', { a: 420 }]],
    ['>-\n  folded\n  text', 'folded text'],
    ['"two\n  lines"', 'two lines'],
  ])('%j is %j', (source, value) => {
    expect(valueOf(`v: ${source}\n`)).toEqual({ v: value });
  });

  it('makes strings of keys that are no strings', () => {
    expect(valueOf('on: 1\n010: 2\n1.5: 3\n')).toEqual({ true: 1, 8: 2, 1.5: 3 });
  });

  it('holds keys in objects without prototype', () => {
    const value = valueOf('data:\n  __proto__: x\n  constructor: why\n');

    expect(Object.entries((value as { data: object }).data)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'why'],
    ]);
  });

  it.each([
    ['JSON text', '{"a": [1, {"b": null}]}\n', { a: [1, { b: null }] }],
    ['CRLF', 'a: 1\r\nb:\r\n  - x\r\n', { a: 1, b: ['x'] }],
    ['a byte order mark', '\ufeffa: 1\n', { a: 1 }],
    ['a byte order mark before the separator', '\ufeff---\na: 1\n', { a: 1 }],
    ['a byte order mark behind the separator', '---\n\ufeffa: 1\n', { a: 1 }],
    ['no final line feed', 'a:\n  b: |\n    x', { a: { b: 'x\n' } }],
    ['content on the separator line', '--- {a: 1}\n', { a: 1 }],
    ['an end marker', 'a: 1\n...\n', { a: 1 }],
  ])('reads %s', (_, text, value) => {
    expect(valueOf(text)).toEqual(value);
  });
});

describe('documents that no edit may touch', () => {
  it.each([
    ['anchor', 'kind: K\nmetadata:\n  name: n\na: &x b\n'],
    ['alias', 'kind: K\nmetadata: {name: n}\nb: *a\n'],
    ['merge key', 'kind: K\nmetadata:\n  name: n\na:\n  <<: {b: 1}\n'],
    ['duplicate key', 'kind: K\nmetadata:\n  name: n\na: 1\na: 2\n'],
    ['duplicate key', 'kind: K\nmetadata:\n  name: n\n1: 1\n"1": 2\n'],
    ['tag', 'kind: K\nmetadata:\n  name: n\na: !local b\n'],
    ['tag', 'kind: K\nmetadata:\n  name: n\na: !!binary aGk=\n'],
    ['directive', '%YAML 1.2\n---\nkind: K\nmetadata:\n  name: n\n'],
    ['key that is no string', 'kind: K\nmetadata:\n  name: n\n? [a]\n: 1\n'],
    ['key that is no string', 'kind: K\nmetadata:\n  name: n\n1e-7: 1\n'],
    ['key that is no string', 'kind: K\nmetadata:\n  name: n\n-0.0: 1\n'],
    ['key that is no string', 'kind: K\nmetadata:\n  name: n\n9223372036854775808: 1\n'],
    ['duplicate key', 'kind: K\nmetadata:\n  name: n\na: {on: 1, "true": 2}\n'],
    ['tag', 'kind: K\nmetadata:\n  name: n\na: !!int 5.5\n'],
    ['tag', 'kind: K\nmetadata:\n  name: n\na: !!bool maybe\n'],
    ['line break that is neither LF nor CRLF', 'kind: K\nmetadata:\n  name: n\na: "x\ry"\n'],
    ['line break that is neither LF nor CRLF', 'kind: K\nmetadata:\n  name: n\na: "x\u0085y"\n'],
  ])('%s', (construct, text) => {
    const document = only(text);

    expect(document).toMatchObject({ state: 'non-editable', construct, identity: { kind: 'K', name: 'n' } });
    const identified = identifyDocuments(text);
    expect(identified).toMatchObject({ ok: true, value: [{ state: 'non-editable', construct }] });
  });
});

describe('problems are named by place and never quote the text', () => {
  it.each([
    ['an open quote', 'a: 1\nb: "secret\n', 'a missing character: an unclosed quote, bracket or key at 3:1'],
    ['a second key on one line', 'a: secret: x\n', 'a second key on one line; a value with ": " needs quotes at 1:4'],
    ['a tab as indentation', 'a:\n\tsecret: 1\n', 'a tab used as indentation at 2:1'],
    ['a stray bracket', 'a: }secret\n', 'unexpected content at 1:4'],
    ['not UTF-8', Uint8Array.of(0x61, 0x3a, 0x20, 0xff), 'not valid UTF-8 text'],
    ['UTF-16', Buffer.from('\ufeffa: 1\n', 'utf16le'), 'not valid UTF-8 text'],
    ['a NUL byte', 'a: "\0"\n', 'not valid UTF-8 text'],
  ])('%s', (_, input, message) => {
    expect(problemOf(input)).toBe(message);
  });

  it('counts lines within the file and leaves the other documents alone', () => {
    const documents = read('a: 1\n---\nb: [\n---\nc: 3\n');

    expect(documents.map((document) => document.state)).toEqual(['read', 'invalid', 'read']);
    expect(documents[1]).toMatchObject({ problem: { line: 4, column: 1 } });
  });

  it('accepts the replacement character itself', () => {
    expect(read(Buffer.from('a: "\ufffd"\n'))[0]).toMatchObject({ value: { a: '\ufffd' } });
  });
});

describe('FC-SEC-1: limits hold before anything recurses', () => {
  const blockNest = (levels: number): string =>
    Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:\n`).join('');
  const bomb = [
    'a0: &a0 [x,x,x,x,x,x,x,x,x]',
    ...Array.from({ length: 8 }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(',')}]`),
  ].join('\n');

  it.each<[string, string, string]>([
    ['brackets', '['.repeat(20_000), 'nested deeper than 100 at 1:104'],
    ['balanced brackets', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'nested deeper than 100 at 1:104'],
    ['block maps', blockNest(2000), 'nested deeper than 100 at 103:104'],
    ['block maps beyond the size as well', blockNest(5000), 'the file has 12512500 bytes, the limit is 5242880'],
    ['a long scalar', `a: ${'x'.repeat(10 << 20)}\n`, 'the file has 10485764 bytes, the limit is 5242880'],
    ['documents', '---\n'.repeat(100_000), 'the file has more than 10000 documents'],
    ['errors', '{}'.repeat(1_000_000), 'unexpected content at 1:3'],
  ])('%s', (_, text, message) => {
    const started = process.cpuUsage();

    expect(problemOf(text)).toBe(message);

    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(500);
  });

  it('an alias bomb is classified, not expanded', () => {
    expect(only(`${bomb}\n`)).toMatchObject({ state: 'non-editable', construct: 'anchor' });
  });

  it.each([
    ['exactly 100 levels', 100, 'read'],
    ['101 levels', 101, 'invalid'],
  ])('%s in brackets and in blocks', (_, levels, state) => {
    expect(only('['.repeat(levels) + ']'.repeat(levels)).state).toBe(state);
    expect(only(`${blockNest(levels - 1)}${' '.repeat(levels - 1)}a: 1\n`).state).toBe(state);
  });

  it('what large real schemas need passes', () => {
    const schema = `a: ${'[{b: '.repeat(30)}1${'}]'.repeat(30)}\ndescription: ${'x'.repeat(1 << 20)}\n`;

    expect(only(schema).state).toBe('read');
  });

  it('ten thousand documents pass', () => {
    expect(read('a: 1\n---\n'.repeat(10_000)).length).toBe(10_000);
    expect(parseDocuments('a: 1\n---\n'.repeat(10_001)).ok).toBe(false);
  });

  it.each([
    ['items', `[${'a,'.repeat(400_000)}a]`],
    ['keys', 'a: 1\n'.repeat(200_000)],
    ['anchors', '- &a b\n'.repeat(200_000)],
  ])('reads no document of more %s than any object has', (_, text) => {
    const reading = parseDocuments(text);

    expect(reading.ok && reading.value.map((each) => each.state === 'invalid' && each.problem.message)).toEqual([
      expect.stringContaining('more than 500000 marks, words and line ends'),
    ]);
  });
});

describe('identities of a file', () => {
  it('names what each document is', () => {
    const text = [
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\ndata: {}\n',
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: b\nsops:\n  mac: x\n',
      'apiVersion: v1\nkind: List\nitems: []\n',
      '# nothing\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: &m\n  name: c\n',
      'kind: [\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 5\n',
    ].join('---\n');

    const documents = identifyDocuments(text);

    const brief = documents.ok
      ? documents.value.map(({ state, identity, isEncrypted, claimed }) => ({ state, identity, isEncrypted, claimed }))
      : [];
    const plain = { isEncrypted: false, identity: undefined, claimed: undefined };
    expect(brief).toEqual([
      { ...plain, state: 'read', identity: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' } },
      { ...plain, state: 'read', identity: { apiVersion: 'v1', kind: 'Secret', name: 'b' }, isEncrypted: true },
      { ...plain, state: 'read' },
      { ...plain, state: 'empty' },
      { ...plain, state: 'non-editable', claimed: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' } },
      { ...plain, state: 'invalid' },
      { ...plain, state: 'read' },
    ]);
  });

  it('costs little enough for ten thousand files', () => {
    const files = Array.from({ length: 10_000 }, (_, at) =>
      Buffer.from(
        `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    app: x\n  name: cm-${at}\n  namespace: shop\ndata:\n  a: ${'x'.repeat(100)}\n  b: |\n    one\n    two: 2\n`,
      ),
    );
    const started = process.cpuUsage();

    for (const file of files) identifyDocuments(file);

    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});
