import { parse } from 'yaml';
import type { JsonValue } from '@gitops-reverser/kernel-api';
import { encodeKey, encodeYaml, encodeYamlDocuments, parseJson } from './index.js';

function encoded(value: JsonValue): string {
  const result = encodeYaml(value);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
const lines = (...text: string[]): string => `${text.join('\n')}\n`;

describe('the one style', () => {
  it('orders, indents, quotes and blocks a whole object', () => {
    const object = {
      spec: {
        ports: [{ port: 80, name: 'http' }, {}],
        args: ['--v=2', [1, [2]]],
        empty: {},
        none: [],
        nothing: null,
        ratio: 0.5,
        on: true,
      },
      data: { sizes: '- 1: small', enabled: 'yes', 'run.sh': '#!/bin/sh\nexec press --all\n' },
      metadata: { namespace: 'orchard', name: 'press', labels: { tier: '01' } },
      kind: 'Press',
      apiVersion: 'example.org/v1',
    };

    expect(encoded(object)).toBe(
      lines(
        'apiVersion: example.org/v1',
        'kind: Press',
        'metadata:',
        '  labels:',
        '    tier: "01"',
        '  name: press',
        '  namespace: orchard',
        'data:',
        '  enabled: "yes"',
        '  run.sh: |',
        '    #!/bin/sh',
        '    exec press --all',
        "  sizes: '- 1: small'",
        'spec:',
        '  args:',
        '    - --v=2',
        '    - - 1',
        '      - - 2',
        '  empty: {}',
        '  none: []',
        '  nothing: null',
        '  "on": true',
        '  ports:',
        '    - name: http',
        '      port: 80',
        '    - {}',
        '  ratio: 0.5',
      ),
    );
  });

  it.each<[string, JsonValue, string]>([
    ['an empty map', {}, '{}\n'],
    ['an empty list', [], '[]\n'],
    ['a list', ['a', { b: 1 }], '- a\n- b: 1\n'],
    ['a string', 'a', 'a\n'],
    ['null', null, 'null\n'],
    ['text in lines', 'a\nb', '|-\n  a\n  b\n'],
    [
      'text that would need an indentation indicator, on whose meaning at the root readers disagree',
      ' a\nb',
      '" a\\nb"\n',
    ],
  ])('writes %s as a document', (_, value, text) => {
    expect(encoded(value)).toBe(text);
  });

  it.each([
    [
      'integer-like keys, which an engine would order as numbers',
      { 9: 'a', 10: 'b', 1: 'c' },
      '"1": c\n"10": b\n"9": a\n',
    ],
    [
      'keys above the surrogates, which UTF-16 order puts too late',
      { '\uff5e': 1, '\u{1f600}': 2, a: 3 },
      'a: 3\n\uff5e: 1\n\u{1f600}: 2\n',
    ],
    ['upper case before lower case', { b: 1, B: 2, a: 3 }, 'B: 2\na: 3\nb: 1\n'],
  ])('sorts by code point: %s', (_, value, text) => {
    expect(encoded(value)).toBe(text);
  });

  it('leads with apiVersion, kind and metadata at the root only', () => {
    expect(encoded({ a: { kind: 'x', apiVersion: 'y', b: 1 }, metadata: {}, kind: 'K' })).toBe(
      lines('kind: K', 'metadata: {}', 'a:', '  apiVersion: "y"', '  b: 1', '  kind: x'),
    );
  });

  it('keeps a __proto__ key, which is a legal name', () => {
    expect(encoded(parseJson('{"data":{"__proto__":"x"}}'))).toBe('data:\n  __proto__: x\n');
  });

  it('FC-SAN-9: writes every digit of integers beyond 2^53', () => {
    const value = parseJson('{"bytes":9223372036854775807,"serial":12345678901234567890,"ratio":0.1}');

    expect(encoded(value)).toBe('bytes: 9223372036854775807\nratio: 0.1\nserial: 12345678901234567890\n');
  });

  it('FC-YML-5: folds no long line', () => {
    const long = 'select '.repeat(60).trimEnd();

    expect(encoded({ sql: long, url: 'u'.repeat(400) })).toBe(`sql: ${long}\nurl: ${'u'.repeat(400)}\n`);
  });

  it('gives equal objects equal bytes, whatever the order of their keys', () => {
    expect(encoded({ b: { d: 1, c: 2 }, a: 3 })).toBe(encoded({ a: 3, b: { c: 2, d: 1 } }));
  });

  it('joins documents by a separator line and begins with none', () => {
    expect(encodeYamlDocuments([{ a: 1 }, { b: 2 }])).toEqual({ ok: true, value: 'a: 1\n---\nb: 2\n' });
  });
});

describe('scalar style', () => {
  it.each(
    [
      ...[
        '',
        'yes',
        'NO',
        'on',
        'n',
        'True',
        '~',
        'null',
        '.inf',
        '-.INF',
        '.NaN',
        '0644',
        '01',
        '1_000',
        '0b11',
        '0x1F',
        '0o14',
        '1e3',
        '1.',
        '+1',
        '.5',
        '-',
        '12:30:45',
        '1:30',
        '2026-01-01',
      ],
      ...[
        '2026-01-01T10:00:00Z',
        '2026-1-1 10:00:00',
        '=',
        '<<',
        '9223372036854775808',
        'e5',
        '-_0',
        '.',
        '0X1F',
        '190:20:30.15',
        '0b+1',
        '0_b-1',
        '0o+7',
        '0x-f',
        '00000000000000000000000000000000001',
      ],
    ].filter((text) => text !== '-'),
  )('FC-YML-4: %j is double-quoted, some reader takes it for something else', (text) => {
    expect(encoded({ v: text })).toBe(`v: ${JSON.stringify(text)}\n`);
  });

  it.each([
    '- x',
    '-',
    '?',
    ':',
    '# c',
    ': ',
    'a: b',
    'a:',
    'a #b',
    '@a',
    '`b',
    '%a',
    '&a',
    '*a',
    '!a',
    '|',
    '>',
    '{a',
    '[a',
    ']',
    '}',
    ',',
    '"a',
    ' a',
    'a ',
    'a\t',
    '\ta',
    'a\t#b',
    'a:\tb',
    'a\tb',
    '---',
    '...',
    '--- a',
  ])('%j clashes with syntax and is single-quoted', (text) => {
    expect(encoded({ v: text })).toBe(`v: '${text}'\n`);
  });

  it('doubles the quotes inside single quotes', () => {
    expect(encoded({ v: "'a': b" })).toBe("v: '''a'': b'\n");
  });

  it.each([
    "it's",
    'a"b',
    '-x',
    '--flag',
    '?x',
    ':x',
    'a:b',
    'a#b',
    '10.0.0.1',
    '1.2.3',
    '500m',
    '10Gi',
    '8080:80',
    '=a',
    'yES',
    'http://x/y?z=1&w',
    'naïve',
    '😀',
    'C:\\dir',
    '/etc',
    'a, b [c]',
    '---x',
    '....',
  ])('%j stays plain', (text) => {
    expect(encoded({ v: text })).toBe(`v: ${text}\n`);
  });

  it.each([
    ['a carriage return', 'a\r\nb\r\n', '"a\\r\\nb\\r\\n"'],
    ['NEL', '\u0085x', '"\\u0085x"'],
    ['LS and PS', 'a\u2028b\u2029', '"a\\u2028b\\u2029"'],
    ['BOM', '\ufeffx', '"\\ufeffx"'],
    ['a lone surrogate', 'a\ud800b', '"a\\ud800b"'],
    ['a control character', 'a\u0000\u001b"\\', '"a\\u0000\\u001b\\"\\\\"'],
    ['DEL', '\u007f', '"\\u007f"'],
    ['a control character among lines', 'a\n\u0007\tb\n', '"a\\n\\u0007\\tb\\n"'],
  ])('escapes %s in double quotes', (_, text, expected) => {
    expect(encoded({ v: text })).toBe(`v: ${expected}\n`);
  });

  it.each([
    ['one final line feed', 'a\nb\n', '|\n  a\n  b\n'],
    ['none', 'a\nb', '|-\n  a\n  b\n'],
    ['more than one', 'a\nb\n\n', '|+\n  a\n  b\n\n'],
    ['a line feed alone', '\n', '|+\n\n'],
    ['a first line that starts with a space', '  lead\nx', '|2-\n    lead\n  x\n'],
    ['a first non-empty line that starts with a space', '\n lead', '|2-\n\n   lead\n'],
    ['empty lines before a tab, which libyaml takes for indentation', '\n\tx\n', '|2\n\n  \tx\n'],
    ['tabs', 'tab\tin\n\tx\n', '|\n  tab\tin\n  \tx\n'],
    ['blanks at the end of a line', 'a  \nb\n', '|\n  a  \n  b\n'],
    ['lines that look like markers', '---\nx\n', '|\n  ---\n  x\n'],
    ['empty lines inside', 'a\n\nb\n', '|\n  a\n\n  b\n'],
    ['an emoji', '😀\nb\n', '|\n  😀\n  b\n'],
  ])('FC-YML-6: a literal block holds text with %s', (_, text, expected) => {
    expect(encoded({ v: text })).toBe(`v: ${expected}`);
  });

  it.each([
    ['a last line of blanks without a line feed', 'a\n  ', '"a\\n  "'],
    ['nothing but blanks', ' \n', '" \\n"'],
    ['a first line that starts with a tab, which Kustomize refuses in a block', '\tx\n', '"\\tx\\n"'],
    ['an indented start and blank lines at the end', ' a\n \n', '" a\\n \\n"'],
  ])('FC-YML-6: what a block cannot carry is double-quoted: %s', (_, text, expected) => {
    expect(encoded({ v: text })).toBe(`v: ${expected}\n`);
  });

  it('never gives a key a block style', () => {
    expect(encoded({ 'a\nb': 1, yes: 2, '- a': 3, '': 4 })).toBe('"": 4\n\'- a\': 3\n"a\\nb": 1\n"yes": 2\n');
    expect(encodeKey('a: b')).toBe("'a: b'");
  });

  it('writes a key too long for an implicit one so that readers accept it', () => {
    const key = 'k'.repeat(2000);

    const text = encoded({ m: { [key]: { a: 1 } } });

    expect(parse(text)).toEqual({ m: { [key]: { a: 1 } } });
  });
});

describe('what cannot be represented is an error that says where', () => {
  const deep = (levels: number): JsonValue => (levels === 0 ? 1 : { a: deep(levels - 1) });

  it.each<[string, unknown, string]>([
    ['not a number', { spec: { 'a/b': [1, NaN] } }, 'cannot write /spec/a~1b/1: NaN is not a JSON number'],
    ['infinity', { a: -Infinity }, 'cannot write /a: -Infinity is not a JSON number'],
    ['undefined', { a: undefined }, 'cannot write /a: expected a JSON value, found undefined'],
    ['a function', { a: [() => 1] }, 'cannot write /a/0: expected a JSON value, found function'],
    ['a date', { a: new Date(0) }, 'cannot write /a: expected a plain object, found an instance of a class'],
    ['a map', [new Map()], 'cannot write /0: expected a plain object, found an instance of a class'],
  ])('%s', (_, value, message) => {
    expect(encodeYaml(value as JsonValue)).toEqual({ ok: false, error: { code: 'unrepresentable-value', message } });
  });

  it('more levels than a reader accepts, a cycle among them', () => {
    const cycle: Record<string, unknown> = {};
    cycle['a'] = cycle;

    expect(encodeYaml(deep(100)).ok).toBe(true);
    expect(encodeYaml(deep(101))).toMatchObject({ ok: false });
    expect(encodeYaml(cycle as JsonValue)).toMatchObject({ ok: false, error: { code: 'unrepresentable-value' } });
  });
});

describe('speed', () => {
  it('encodes ten thousand small ConfigMaps in far less than the second that a snapshot may take', () => {
    const objects = Array.from({ length: 10_000 }, (_, at) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `cm-${at}`, namespace: `ns-${at % 50}`, labels: { app: 'x', tier: '01' } },
      data: { a: 'x'.repeat(100), b: 'hello world', c: `line1\nline2\n${'y'.repeat(100)}`, n: String(at) },
    }));
    const started = process.cpuUsage();

    for (const object of objects) encodeYaml(object);

    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(1500);
  });
});
