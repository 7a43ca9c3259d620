import type { JsonValue } from '@gitops-reverser/kernel-api';
import { dice, humanYaml, randomObject } from './edit/human-yaml.fixture.js';
import { readFull } from './full-reader.js';
import { readSimpleIdentity, type SimpleIdentity } from './identity-reader.js';
import { hasUnusualCharacter } from './simple-reader.js';

const identity = (text: string): SimpleIdentity | undefined => readSimpleIdentity(text, 0, text.length);

it.each<[why: string, text: string, expected: SimpleIdentity]>([
  [
    'four texts in any order, quoted or not',
    `kind: 'ConfigMap' # here\nmetadata:\n    namespace: "shop"\n    name: a\napiVersion: v1\n`,
    { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a', isEncrypted: false },
  ],
  ['metadata in brackets', 'metadata: {name: a, labels: {x: [y, {z: 1}]}}\n', { name: 'a', isEncrypted: false }],
  ['deeper maps of the same names say nothing', 'spec:\n  metadata:\n    name: a\n  kind: X\n', { isEncrypted: false }],
  ['a name that is a number is none', 'metadata:\n  name: 5\n  namespace: on\n', { isEncrypted: false }],
  ['a sops map', 'sops:\n  mac: x\n', { isEncrypted: true }],
  ['a sops list', 'sops:\n- x\n', { isEncrypted: false }],
  ['an empty sops map', 'sops: {}\n', { isEncrypted: true }],
  ['a list is nobody', '- kind: X\n- apiVersion: v1\n', { isEncrypted: false }],
  [
    'literal and folded blocks are passed over',
    'data:\n  a: |-\n    kind: no\n\n    b\n  c: >\n    metadata:\n    d\nkind: X\n',
    { kind: 'X', isEncrypted: false },
  ],
])('reads who a document is about: %s', (_, text, expected) => {
  expect(identity(text)).toEqual(expected);
});

it.each([
  ['an anchor', 'a: &x 1\n'],
  ['an alias', 'a: *x\n'],
  ['a tag', 'a: !!str 1\n'],
  ['a merge key', '<<: {a: 1}\n'],
  ['a key twice', 'a: 1\nb: 2\na: 3\n'],
  ['a key twice in brackets', 'a: {b: 1, b: 2}\n'],
  ['a key twice among many', `${Array.from({ length: 40 }, (_, at) => `k${at}: 1\n`).join('')}k39: 2\n`],
  ['a key twice in two spellings', 'on: 1\n"true": 2\n'],
  ['a number as a key', '1: a\n'],
  ['a name with an escape', 'metadata:\n  name: "a\\tb"\n'],
  ['a name in a block', 'metadata:\n  name: |\n    a\n'],
  ['a second value on a line', 'a: b: c\n'],
  ['text over two lines', 'a: b\n  c\n'],
  ['a tab', 'a:\tb\n'],
  ['an open quote', 'a: "b\n'],
  ['an open bracket', 'a: [b\n'],
  ['101 levels', `${Array.from({ length: 101 }, (_, at) => `${' '.repeat(at)}a:\n`).join('')}`],
])('leaves to the readers: %s', (_, text) => {
  expect(identity(text)).toBeUndefined();
});

it('says of any text what the full reader says, or nothing', () => {
  const roll = dice(20);
  let said = 0;
  for (let round = 0; round < 3_000; round += 1) {
    const text = damaged(roll, humanYaml(roll, randomObject(roll)), Math.floor(roll() * 3));
    if (hasUnusualCharacter(text) || /^(?:---|\.\.\.)/m.test(text)) continue;
    const found = identity(text);
    if (found === undefined) continue;
    said += 1;

    const full = readFull(text, false);

    if (full.state !== 'read' || !isSame(found, full.value))
      throw new Error(`read in two ways: ${JSON.stringify(text)}`);
  }
  expect(said).toBeGreaterThan(200);
});

const scraps = [
  ...[
    '\n',
    ' ',
    '  ',
    '- ',
    ': ',
    ' #',
    '"',
    "'",
    '{',
    '}',
    '[',
    ']',
    ', ',
    '|\n',
    '>-\n',
    '>\n',
    '&a ',
    '*a',
    '!!str ',
  ],
  ...[
    '? ',
    'kind: X\n',
    'metadata:\n',
    'sops: {}\n',
    'name: y\n',
    '  name: z\n',
    '\n\n',
    '   \n',
    '\t',
    'a: b: c\n',
    '|2\n',
  ],
];

function damaged(roll: () => number, text: string, times: number): string {
  let result = text;
  for (let nth = 0; nth < times; nth += 1) {
    const at = Math.floor(roll() * (result.length + 1));
    const scrap = scraps[Math.floor(roll() * scraps.length)] ?? '';
    result = result.slice(0, at) + scrap + result.slice(roll() < 0.5 ? at : at + 1 + Math.floor(roll() * 5));
  }
  return result;
}

function isSame(found: SimpleIdentity, value: JsonValue): boolean {
  const expected = {
    apiVersion: textAt(value, 'apiVersion'),
    kind: textAt(value, 'kind'),
    name: textAt(at(value, 'metadata'), 'name'),
    namespace: textAt(at(value, 'metadata'), 'namespace'),
    isEncrypted: isMap(at(value, 'sops')),
  };
  return Object.entries(expected).every(([key, each]) => found[key as keyof SimpleIdentity] === each);
}

const isMap = (value: JsonValue | undefined): value is Readonly<Record<string, JsonValue>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (value: JsonValue | undefined, key: string): JsonValue | undefined =>
  isMap(value) ? value[key] : undefined;
function textAt(value: JsonValue | undefined, key: string): string | undefined {
  const found = at(value, key);
  return typeof found === 'string' && found !== '' ? found : undefined;
}
