import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { deepEqual, encodeYaml, encodeYamlDocuments, parseDocuments, parseJson, readPlainScalar } from './index.js';
import { readFull } from './full-reader.js';
import { hasUnusualCharacter, readSimple } from './simple-reader.js';

/** Values made of what YAML readers misread. */
const shards = [
  ...[
    'yes',
    'No',
    'on',
    'y',
    'null',
    '~',
    '=',
    '<<',
    'true',
    'e5',
    '.inf',
    '.nan',
    '0x1F',
    '0o17',
    '0b11',
    '0644',
    '1_000',
    '12:30:45',
    '1e3',
    '1.',
    '.5',
    '+1',
  ],
  ...[
    '2026-01-01',
    '2026-1-1 10:00:00 Z',
    '-',
    '- ',
    '?',
    '? ',
    ':',
    ': ',
    '#',
    ' #',
    '# c',
    '"',
    "'",
    "it's",
    '\\',
    '@a',
    '`b',
    '%d',
    '&a',
    '*a',
    '!t',
    '|',
    '>',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    '---',
    '...',
    '\n',
    '\n\n',
    ' \n',
    '\n ',
    '\t',
    '\r',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\ufffe',
    '\0',
    '\x7f',
    '\u00e9',
    '😀',
    'a',
    'b c',
    '0',
    '9',
    ' ',
  ],
];
const hostileString = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...shards), { maxLength: 6 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.stringMatching(/^[-+.0-9_eExob:TZ ]{1,8}$/) },
);
const scalar = fc.oneof(
  { weight: 6, arbitrary: hostileString },
  fc.constantFrom<JsonValue>(null, true, false, 0, -1, 0.1, 1e21, 1.5e-9, 9007199254740993n, -12345678901234567890n),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
);
const jsonValue = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(hostileString, fc.constantFrom('apiVersion', 'kind', 'metadata', '__proto__', '10', '9', '1')),
      tie('value'),
      { maxKeys: 5, noNullPrototype: false },
    ),
  ),
})).value;

const runs = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 600) };

function encoded(value: JsonValue): string {
  const result = encodeYaml(value);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe('what is written reads back', () => {
  it.each(['1.1', '1.2'] as const)('FC-YML-4: under YAML %s', (version) => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = encoded(value);
        const schema = version === '1.1' ? 'yaml-1.1' : 'core';
        const back = parse(text, {
          version,
          schema,
          intAsBigInt: true,
          mapAsMap: true,
          uniqueKeys: false,
          strict: true,
          logLevel: 'error',
        }) as unknown;

        return deepEqual(fromMaps(back), value);
      }),
      runs,
    );
  });

  it('under the reading of the appliers, by the fast reader and by the full one alike', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = encoded(value);
        const documents = parseDocuments(text);
        const full = readFull(text, false);
        const simple = hasUnusualCharacter(text) ? undefined : readSimple(text, 0, text.length);

        if (simple !== undefined && !deepEqual(simple.value, value)) return false;
        const only = documents.ok ? documents.value[0] : undefined;
        return (
          full.state === 'read' &&
          deepEqual(full.value, value) &&
          only?.state === 'read' &&
          deepEqual(only.value, value)
        );
      }),
      runs,
    );
  });

  it('the same bytes again, so that an edit and a creation agree', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = encoded(value);
        const documents = parseDocuments(text);

        const only = documents.ok ? documents.value[0] : undefined;
        return only?.state === 'read' && encoded(only.value) === text;
      }),
      runs,
    );
  });
});

describe('the fast reader', () => {
  it('says nothing or what the full reader says, for text of any kind', () => {
    fc.assert(
      fc.property(manifestLikeText, (text) => {
        if (hasUnusualCharacter(text)) return true;
        const simple = readSimple(text, 0, text.length);
        if (simple === undefined) return true;
        const full = readFull(text, false);
        return full.state === 'read' && deepEqual(full.value, simple.value);
      }),
      { numRuns: runs.numRuns * 10 },
    );
  });
});

const lineStarts = [
  'a:',
  'b:',
  'c.d/e:',
  '"k":',
  "'s':",
  'on:',
  'yes:',
  '1:',
  '- ',
  '-',
  '- - ',
  '- x:',
  '-   y:',
  '# c',
  '',
  ' ',
  '? ',
  '<<:',
  'text',
  '\t',
  '...',
  '---',
  '--- ',
  '"',
  '{a: b}',
  'é:',
  'a:b:',
];
const lineValues = [
  ...[
    '',
    '',
    '',
    ' v',
    ' 0644',
    ' yes',
    ' ~',
    ' 1.5',
    ' 99999999999999999999',
    ' "q"',
    " 'it''s'",
    ' "a\\n\\u00e9"',
    ' "\\x41"',
    ' "\\ud83d\\ude00"',
    ' {}',
    ' []',
    ' {a: b}',
    ' [a, "b"]',
    ' # c',
  ],
  ...[
    ' |',
    ' |-',
    ' |+',
    ' |2',
    ' |1-',
    ' >',
    ' >-',
    ' &x v',
    ' *x',
    ' !t v',
    ' - v',
    ' a: b',
    ' v # c',
    ' "q" # c',
    ' "q"x',
    ' "open',
    " 'open",
    ' -',
    ' -v',
    ' :',
    ' ?v',
    ' x:',
    ' x: y',
    ' #',
    ' a#b',
    ' @a',
    ' v  ',
    '  v',
    '\tv',
    ' v\tw',
    ' -\t',
    ' |2\n    x\n    ',
    ' >1-\n   x\n  ',
    ' !!int 5.5',
    ' 0b-1',
    ' [a:, "b":c]',
    ' {1e-7: x}',
    ' % ',
    ' 2026-01-01',
  ],
];
const line = fc
  .tuple(
    fc.constantFrom(0, 0, 0, 2, 2, 2, 4, 4, 1, 3, 6),
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('a:', 'b:', 'c:', 'd:', 'e:', '- ', '- x:', '', '# c') },
      { weight: 1, arbitrary: fc.constantFrom(...lineStarts) },
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('', ' v', ' |', ' "q"', ' 5') },
      { weight: 1, arbitrary: fc.constantFrom(...lineValues) },
    ),
  )
  .map(([indent, start, value]) => `${' '.repeat(indent)}${start}${value}`);
const manifestLikeText = fc.array(line, { minLength: 1, maxLength: 6 }).map((lines) => `${lines.join('\n')}\n`);

function fromMaps(value: unknown): JsonValue {
  if (value instanceof Map) {
    const fields = Object.create(null) as Record<string, JsonValue>;
    for (const [key, item] of value as Map<string, unknown>) fields[key] = fromMaps(item);
    return fields;
  }
  return Array.isArray(value) ? value.map(fromMaps) : (value as JsonValue);
}

const kubectl = process.env['KUBECTL'] ?? 'kubectl';
const hasKubectl = spawnSync(kubectl, ['version', '--client']).status === 0;
if (!hasKubectl)
  process.stderr.write(
    'SKIPPED: no kubectl (set KUBECTL, or put it on the PATH): nothing compares our YAML with what appliers read\n',
  );
const whenKubectl = hasKubectl ? it : it.skip;

/** Reads documents as kubectl does, without a server. */
function readWithKubectl(text: string): readonly JsonObject[] {
  const run = spawnSync(kubectl, ['label', '--local', '-f', '-', 'x=y', '-o', 'json'], {
    input: text,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (run.status !== 0) throw new Error(run.stderr);
  // Several objects come one after the other, indented, so only a root brace stands at a line start.
  return run.stdout
    .split(/^}\n(?=\{)/m)
    .map((json, at, all) => parseJson(at === all.length - 1 ? json : `${json}}`) as JsonObject);
}

const aDocument = (name: string, value: JsonValue): JsonObject => ({
  apiVersion: 'example.org/v1',
  kind: 'Probe',
  metadata: { name },
  spec: { value },
});

describe('kubectl', () => {
  whenKubectl('reads what is written as the values that were meant', () => {
    const values = fc.sample(jsonValue.filter(isReadableByGo), { seed: 20261130, numRuns: 1500 });
    const encoded = encodeYamlDocuments(values.map((value, at) => aDocument(`p${at}`, value)));
    if (!encoded.ok) throw new Error(encoded.error.message);

    const read = readWithKubectl(encoded.value);

    const misread = values.filter(
      (value, at) => !deepEqual((read[at]?.['spec'] as JsonObject | undefined)?.['value'], value),
    );
    expect(misread).toEqual([]);
    expect(read.length).toBe(values.length);
  });

  whenKubectl('and kustomize builds the same values from it', () => {
    const values = fc
      .sample(jsonValue, { seed: 20261130, numRuns: 1500 })
      .filter((value) => isReadableByGo(value) && survivesKustomize(value));
    const encoded = encodeYamlDocuments(values.map((value, at) => aDocument(`p${at}`, value)));
    if (!encoded.ok) throw new Error(encoded.error.message);
    const folder = mkdtempSync(join(tmpdir(), 'toolkit-yaml-'));
    try {
      writeFileSync(join(folder, 'values.yaml'), encoded.value);
      writeFileSync(join(folder, 'kustomization.yaml'), 'resources:\n  - values.yaml\n');
      const build = spawnSync(kubectl, ['kustomize', folder], { encoding: 'utf8', maxBuffer: 64 << 20 });
      if (build.status !== 0) throw new Error(build.stderr);

      const built = new Map(
        readWithKubectl(build.stdout).map((object) => [
          (object['metadata'] as JsonObject)['name'],
          (object['spec'] as JsonObject)['value'],
        ]),
      );

      expect(values.filter((value, at) => !deepEqual(built.get(`p${at}`), value))).toEqual([]);
      expect(values.length).toBeGreaterThan(500);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  whenKubectl('reads plain scalars as we do', () => {
    const text = plainScalars
      .map((source, at) => `apiVersion: v1\nkind: Probe\nmetadata:\n  name: p${at}\nspec:\n  value: ${source}\n`)
      .join('---\n');

    const theirs = readWithKubectl(text).map((object) => (object['spec'] as JsonObject)['value'] ?? null);

    // Beyond 64 bits Go falls back to a double; we keep the digits.
    const ours = plainScalars
      .map(readPlainScalar)
      .map((value, at) => (typeof value === 'bigint' && typeof theirs[at] === 'number' ? Number(value) : value));
    expect(Object.fromEntries(plainScalars.map((source, at) => [source, ours[at]]))).toEqual(
      Object.fromEntries(plainScalars.map((source, at) => [source, theirs[at]])),
    );
    const documents = parseDocuments(text);
    expect(
      documents.ok &&
        documents.value.map((each) =>
          each.state === 'read' ? ((each.value as JsonObject)['spec'] as JsonObject)['value'] : each.state,
        ),
    ).toEqual(plainScalars.map(readPlainScalar));
  });
});

const plainScalars = [
  ...[
    'yes',
    'No',
    'ON',
    'y',
    'n',
    'off',
    'yES',
    '~',
    'Null',
    'nULL',
    'true',
    'tRUE',
    '=',
    '.inf.',
    '.',
    '..',
    '+',
    '0',
    '-0',
    '+1',
    '00',
    '0644',
    '08',
    '0o17',
    '0O17',
    '0x1F',
    '0X1f',
  ],
  ...[
    '0b11',
    '-0b11',
    '1_000',
    '_1',
    '-_1',
    '1_',
    '12:30:45',
    '1:2',
    '2026-01-01',
    '2026-01-01T10:00:00Z',
    '9223372036854775807',
    '-9223372036854775808',
    '1.',
    '.5',
    '-.5',
    '1.0',
    '1e3',
  ],
  ...[
    '1E+3',
    '1e',
    'e5',
    '1.5.6',
    '1_0.5',
    '.1_5',
    '.1_',
    '+.1_5',
    '0b+1',
    '0b-11',
    '0o+7',
    '0xffffffffffffffffff',
    '0777777777777777777777777',
    '-0x8000000000000000',
    '0x',
    '0b',
    '0b2',
    '0o8',
    '1e400',
    '10Gi',
    '500m',
    '1e-400',
    '<',
    'a b',
    '0.1',
    '100000000000000000000000',
    '-x',
    '--y',
    '?z',
    ':w',
    'a:b',
    'a#b',
  ],
];

/** No lone surrogate, which Go refuses even escaped, and no integer beyond 64 bits, which it rounds. */
function isReadableByGo(value: JsonValue): boolean {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value;
  if (typeof value === 'number')
    return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21;
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).every(isReadableByGo);
  return Object.entries(value as JsonObject).every(([key, item]) => isReadableByGo(key) && isReadableByGo(item));
}

/** Kustomize itself writes some values in a way it cannot read again, whatever it has read them from. */
function survivesKustomize(value: JsonValue): boolean {
  if (typeof value === 'string') return !/[\0\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).every(survivesKustomize);
  return Object.entries(value as JsonObject).every(
    ([key, item]) => survivesKustomize(key) && !/[\n\t]/.test(key) && survivesKustomize(item),
  );
}
