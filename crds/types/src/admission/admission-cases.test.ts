import { kindNames, kindOf, type KindName } from '../kinds/kinds.js';
import { retiredFields } from '../retired.js';
import type { Node } from '../schema/schema.js';
import type { Rule } from '../schema/rule.js';
import { validateStored, validateUpdate } from '../schema/validate.js';
import { admissionCases } from './admission-cases.js';
import { fullSpecsOf } from './full-objects.js';
import { badByPattern } from './pattern-samples.js';

const messagesOf = ({ object, stored }: (typeof admissionCases)[number]): string =>
  (stored === undefined ? validateStored(object.kind, object) : validateUpdate(object.kind, object, stored))
    .map(({ message }) => message)
    .join('\n');

describe('VA-1: the check of stored objects says what the API server says', () => {
  it.each(admissionCases.map((row) => ({ ...row, row })))('$name', ({ row, refused, refusedWhenStored }) => {
    const messages = messagesOf(row);

    if (refused === undefined) expect(messages).toBe('');
    else expect(messages).toContain(refusedWhenStored ?? refused);
  });

  it('RT-1: names retired spellings first and as such', () => {
    for (const { kind, path, message } of retiredFields) {
      const row = admissionCases.find(({ object, refused }) => object.kind === kind && refused === message);
      const [first] = validateStored(kind, row?.object);

      expect(first).toMatchObject({ reason: 'RetiredField', message, path: path.replaceAll('[]', '[0]') });
    }
  });

  it.each([
    {
      what: 'template field .Revision',
      spec: { commit: { message: { liveTemplate: 'at {{ .Revision }}' } } },
      instead: '.ResourceVersion',
    },
    {
      what: 'placement variable',
      spec: { placement: { byType: { 'v1/secrets': '{namespaceOrCluster}/{name}' } } },
      instead: '{namespace}',
    },
  ])('18.2: $what is refused when stored', ({ spec, instead }) => {
    const problems = validateStored('GitTarget', { spec: { gitBranchRef: { name: 'a' }, path: 'b', ...spec } });

    expect(problems).toEqual([
      { path: expect.any(String), message: expect.stringContaining(`use ${instead}`), reason: 'RetiredField' },
    ]);
  });

  it('never quotes an address that holds a password', () => {
    const problems = validateStored('GitProvider', { spec: { url: 'https://bot:hunter2@h.example/r' } });

    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  it('refuses an object without a spec', () => {
    expect(validateStored('GitTarget', {})).toEqual([
      { path: 'spec', message: 'spec: Required value', reason: 'InvalidSpec' },
    ]);
    expect(validateStored('GitTarget', null)).toHaveLength(1);
  });
});

interface Placed {
  readonly kind: KindName;
  readonly path: string;
  readonly node: Node;
}
function nodesBelow(kind: KindName, node: Node, path: string): readonly Placed[] {
  const own = { kind, path, node };
  if (node.type === 'object')
    return [
      own,
      ...Object.entries(node.fields).flatMap(([name, field]) => nodesBelow(kind, field.node, `${path}.${name}`)),
    ];
  if (node.type === 'list') return [own, ...nodesBelow(kind, node.item, `${path}.0`)];
  if (node.type === 'map') return [own, ...nodesBelow(kind, node.value, `${path}.*`)];
  return [own];
}
const specNodes = kindNames.flatMap((kind) => nodesBelow(kind, kindOf(kind).spec.node, 'spec'));
const valueAt = (value: unknown, [segment, ...rest]: readonly string[]): unknown => {
  if (segment === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return valueAt(
    segment === '*' ? Object.values(value)[0] : (value as Readonly<Record<string, unknown>>)[segment],
    rest,
  );
};

describe('20.1: the table is complete', () => {
  it('sets every field in a full object', () => {
    const unset = specNodes.filter(({ kind, path }) =>
      fullSpecsOf(kind).every((spec) => valueAt({ spec }, path.split('.')) === undefined),
    );

    expect(unset.map(({ kind, path }) => `${kind} ${path}`)).toEqual([]);
  });

  it('refuses something for every pattern', () => {
    const patterns = specNodes.flatMap(({ node }) =>
      'pattern' in node && node.pattern !== undefined ? [node.pattern] : [],
    );

    expect([...new Set(patterns)].filter((pattern) => (badByPattern[pattern] ?? []).length === 0)).toEqual([]);
  });

  it('refuses something for every rule', () => {
    const has = ({ id, message, messageExpression }: Rule, kind: KindName): boolean =>
      admissionCases.some(
        (row) =>
          row.object.kind === kind &&
          row.id === id &&
          row.refused !== undefined &&
          (messageExpression !== undefined || message.includes(row.refused)),
      );
    const without = specNodes.flatMap(({ kind, path, node }) =>
      node.rules.filter((rule) => !has(rule, kind)).map(({ id, message }) => `${kind} ${path} ${id} ${message}`),
    );

    expect(without).toEqual([]);
  });

  it('has a name for every row, once', () => {
    const names = admissionCases.map(({ name }) => name);

    expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
  });
});
