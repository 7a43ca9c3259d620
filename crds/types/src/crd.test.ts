import { toCrd } from './crd.js';
import { kindNames, kindOf, type KindName } from './kinds/kinds.js';
import { retiredFields } from './retired.js';
import type { Node } from './schema/schema.js';

interface Placed {
  readonly path: string;
  readonly node: Node;
}
const below = (node: Node, path: string): readonly Placed[] => {
  const own = { path, node };
  if (node.type === 'object')
    return [own, ...Object.entries(node.fields).flatMap(([name, field]) => below(field.node, `${path}.${name}`))];
  if (node.type === 'list') return [own, ...below(node.item, `${path}[]`)];
  if (node.type === 'map') return [own, ...below(node.value, `${path}.*`)];
  return [own];
};
const nodesOf = (kind: KindName): readonly Placed[] => [
  ...below(kindOf(kind).spec.node, 'spec'),
  ...below(kindOf(kind).status.node, 'status'),
];

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly description?: string;
  readonly 'x-kubernetes-validations'?: readonly {
    readonly rule: string;
    readonly message: string;
    readonly reason: string;
    readonly fieldPath?: string;
  }[];
}
const schemasBelow = (schema: Schema): readonly Schema[] => [
  schema,
  ...Object.values(schema.properties ?? {}).flatMap(schemasBelow),
  ...(schema.items === undefined ? [] : schemasBelow(schema.items)),
  ...(schema.additionalProperties === undefined ? [] : schemasBelow(schema.additionalProperties)),
];
const schemaOf = (kind: KindName): Schema => {
  const [version] = toCrd(kind).spec['versions'] as unknown as readonly [
    { readonly schema: { readonly openAPIV3Schema: Schema } },
  ];
  return version.schema.openAPIV3Schema;
};

describe('the ten kinds', () => {
  it('0.1: have the names, scopes and short names of the contract', () => {
    expect(
      kindNames.map((kind) => [kind, kindOf(kind).plural, kindOf(kind).shortNames.join(), kindOf(kind).scope]),
    ).toEqual([
      ['GitProvider', 'gitproviders', 'gprov', 'Namespaced'],
      ['GitBranch', 'gitbranches', 'gbr', 'Namespaced'],
      ['GitTarget', 'gittargets', 'gtgt', 'Namespaced'],
      ['KubeProvider', 'kubeproviders', 'kprov', 'Cluster'],
      ['WatchRule', 'watchrules', 'wrule', 'Namespaced'],
      ['ClusterWatchRule', 'clusterwatchrules', 'cwrule', 'Cluster'],
      ['CommitRequest', 'commitrequests', 'creq', 'Namespaced'],
      ['GitReceiver', 'gitreceivers', 'grecv', 'Namespaced'],
      ['FluxClaim', 'fluxclaims', 'fclaim', 'Namespaced'],
      ['ArgoCDClaim', 'argocdclaims', 'aclaim', 'Namespaced'],
    ]);
  });

  it.each(kindNames)('%s: one served and stored version with status, and the category of all', (kind) => {
    const { spec, metadata } = toCrd(kind);

    expect(metadata.name).toBe(`${kindOf(kind).plural}.configbutler.ai`);
    expect(spec).toMatchObject({
      group: 'configbutler.ai',
      names: { kind, categories: ['gitops-reverser'] },
      versions: [{ name: 'v1alpha3', served: true, storage: true, subresources: { status: {} } }],
    });
  });

  it.each(kindNames)('API-8 %s: Ready and Reason before its own, the message and Age last', (kind) => {
    const { columns } = kindOf(kind);
    const names = columns.map(({ name }) => name);
    const wide = columns.filter((column) => column.wide).map(({ name }) => name);

    expect(names.at(-1)).toBe('Age');
    expect(names.at(-2)).toBe('Message');
    expect(wide.at(-1)).toBe('Message');
    expect(names.indexOf('Ready')).toBeLessThan(names.indexOf('Reason'));
    expect(columns.findIndex((column) => column.wide)).toBeGreaterThan(names.indexOf('Reason'));
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(kindNames)('%s: columns show what the schema or the table of conditions has', (kind) => {
    const paths = new Set(nodesOf(kind).map(({ path }) => `.${path}`));
    const types = new Set(['Ready', ...kindOf(kind).conditions.map(({ type }) => type)]);
    const unknown = kindOf(kind).columns.filter(({ path }) => {
      const type = /@\.type=="(\w+)"/u.exec(path)?.[1];
      return type === undefined ? path !== '.metadata.creationTimestamp' && !paths.has(path) : !types.has(type);
    });

    expect(unknown).toEqual([]);
  });

  it.each(kindNames)('API-6 %s: every text has a longest length, every list and map a largest size', (kind) => {
    const unbounded = nodesOf(kind).filter(
      ({ node }) => (node.type === 'string' || node.type === 'list' || node.type === 'map') && !(node.max > 0),
    );

    expect(unbounded.map(({ path }) => path)).toEqual([]);
  });

  it.each(kindNames)('API-9 %s: everything is described, sentence by sentence', (kind) => {
    const silent = nodesOf(kind).filter(({ node }) => !/[.:]$/u.test(node.doc));

    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it.each(kindNames)(
    'VA-3 %s: every rule has a message and a reason, and points at a child unless it stands on a scalar',
    (kind) => {
      const lacking = schemasBelow(schemaOf(kind)).flatMap(({ type, properties, ...schema }) =>
        (schema['x-kubernetes-validations'] ?? []).filter(
          ({ message, reason, fieldPath }) =>
            !message || !reason || (fieldPath === undefined) !== (type !== 'object' || properties === undefined),
        ),
      );

      expect(lacking).toEqual([]);
    },
  );

  it.each(kindNames)('%s: what is marked immutable has a transition rule around it', (kind) => {
    const nodes = nodesOf(kind);
    const transitions = nodes.flatMap(({ node }) => node.rules.filter((rule) => rule.transition).map(({ cel }) => cel));
    const loose = nodes.filter(
      ({ node, path }) => node.immutable && !transitions.some((cel) => cel.includes(`self.${path.split('.').at(-1)}`)),
    );

    expect(loose.map(({ path }) => path)).toEqual([]);
  });

  it('CR-1: every field of a CommitRequest is part of the rule that freezes it', () => {
    const { node } = kindOf('CommitRequest').spec;
    const cels = below(node, 'spec').flatMap(({ node: inner, path }) =>
      inner.rules.filter(({ id }) => id === 'CR-1').map(({ cel }) => ({ cel, path })),
    );
    const leaves = below(node, 'spec').filter(({ node: inner }) => inner.type !== 'object');
    const free = leaves.filter(
      ({ path }) =>
        !cels.some(
          ({ cel, path: at }) => path.startsWith(`${at}.`) && cel.includes(`oldSelf.${path.slice(at.length + 1)}`),
        ),
    );

    expect(free.map(({ path }) => path)).toEqual([]);
  });

  it.each(retiredFields)(
    'RT-1 $kind $path: kept in the schema, refused by a rule on its parent',
    ({ kind, path, message }) => {
      const parts = path.replaceAll('[]', '.[]').split('.');
      const field = parts.pop() ?? '';
      const parent = parts.reduce<Schema | undefined>(
        (schema, part) => (part === '[]' ? schema?.items : schema?.properties?.[part]),
        schemaOf(kind),
      );

      expect(parent?.properties?.[field]?.description).toContain(message);
      expect(parent?.['x-kubernetes-validations']).toContainEqual(
        expect.objectContaining({ message, fieldPath: `.${field}` }),
      );
    },
  );

  it('RT-4: what prunes open stays refused until the next version of the API', () => {
    expect(
      retiredFields
        .filter(({ prunesOpen }) => prunesOpen)
        .map(({ kind, path, removableFrom }) => [kind, path, removableFrom]),
    ).toEqual([
      ['GitTarget', 'spec.allowedSourceNamespaces', 'v1beta1'],
      ['WatchRule', 'spec.sourceNamespace', 'v1beta1'],
    ]);
  });

  it.each(kindNames)('ST-7 %s: a condition that is no gate says so', (kind) => {
    const silent = kindOf(kind).conditions.filter(({ gate, doc }) => !gate && !doc.includes('Not a gate'));

    expect(silent.map(({ type }) => type)).toEqual([]);
  });

  it.each(kindNames)('API-5 %s: reasons name a cause, never their type', (kind) => {
    const poor = kindOf(kind).conditions.flatMap(({ type, rows }) =>
      rows.flatMap(({ reasons }) =>
        reasons.filter((reason) => reason === type || /Yet$/u.test(reason) || !/^[A-Z][A-Za-z]+$/u.test(reason)),
      ),
    );

    expect(poor).toEqual([]);
  });
});
