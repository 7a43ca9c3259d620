import {
  admitsSourceNamespace,
  decide,
  needsNamespaceLabels,
  type GitBranchLender,
  type GitProviderLender,
  type KubeProviderLender,
  type NamespaceLabels,
} from './grants.js';

const tenant: NamespaceLabels = { kind: 'known', labels: { tier: 'tenant' } };
const missing: NamespaceLabels = { kind: 'missing' };
const unreadable: NamespaceLabels = { kind: 'unreadable', cause: '403' };

const provider = (allowedGitBranches?: NonNullable<GitProviderLender['allowedGitBranches']>): GitProviderLender => ({
  kind: 'GitProvider',
  namespace: 'platform',
  name: 'repo',
  ...(allowedGitBranches === undefined ? {} : { allowedGitBranches }),
});
const branch = (allowedGitTargets: NonNullable<GitBranchLender['allowedGitTargets']>): GitBranchLender => ({
  kind: 'GitBranch',
  namespace: 'platform',
  name: 'main',
  allowedGitTargets,
});
const cluster = (
  grants: Pick<KubeProviderLender, 'allowedGitTargets' | 'allowedApplierClaims'>,
): KubeProviderLender => ({ kind: 'KubeProvider', name: 'default', ...grants });

describe('AZ-1: deny by default', () => {
  it.each([
    ['absent', provider()],
    ['empty', provider([])],
  ])('an %s list admits nobody, the own namespace included', (_, lender) => {
    expect(decide(lender, { kind: 'GitBranch', namespace: 'platform', branch: 'main' }, tenant)).toEqual({
      kind: 'denied',
      part: 'list',
      grant: '{branches: [main]}',
      message:
        'GitProvider platform/repo admits nobody: spec.allowedGitBranches is empty; it does not admit branch main from namespace platform; the smallest entry of its spec.allowedGitBranches that would: {branches: [main]}',
    });
  });
});

describe('GitProvider lends to GitBranch', () => {
  const ask = (namespace: string, name: string) => ({ kind: 'GitBranch', namespace, branch: name }) as const;

  it.each([
    {
      why: 'own namespace when namespaces is left out',
      grants: [{ branches: ['main'] }],
      borrower: ask('platform', 'main'),
      labels: unreadable,
      granted: true,
    },
    {
      why: 'another namespace needs an entry',
      grants: [{ branches: ['**'] }],
      borrower: ask('plum', 'main'),
      labels: tenant,
      granted: false,
    },
    {
      why: 'an exact name needs no labels',
      grants: [{ namespaces: { names: ['plum'] }, branches: ['main'] }],
      borrower: ask('plum', 'main'),
      labels: unreadable,
      granted: true,
    },
    {
      why: 'a selector matches labels',
      grants: [{ namespaces: { selector: { matchLabels: { tier: 'tenant' } } }, branches: ['tenants/{namespace}'] }],
      borrower: ask('plum', 'tenants/plum'),
      labels: tenant,
      granted: true,
    },
    {
      why: '{namespace} is the own one',
      grants: [{ namespaces: { selector: {} }, branches: ['tenants/{namespace}'] }],
      borrower: ask('plum', 'tenants/fig'),
      labels: tenant,
      granted: false,
    },
    {
      why: 'every namespace is selector: {}, without labels',
      grants: [{ namespaces: { selector: {} }, branches: ['*'] }],
      borrower: ask('plum', 'x'),
      labels: unreadable,
      granted: true,
    },
    {
      why: 'an empty matcher admits nothing',
      grants: [{ namespaces: {}, branches: ['**'] }],
      borrower: ask('platform', 'x'),
      labels: tenant,
      granted: false,
    },
    {
      why: 'a namespace that is gone has no labels',
      grants: [{ namespaces: { selector: { matchLabels: { tier: 'tenant' } } }, branches: ['**'] }],
      borrower: ask('plum', 'x'),
      labels: missing,
      granted: false,
    },
    {
      why: 'no labels can satisfy DoesNotExist',
      grants: [
        {
          namespaces: { selector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' as const }] } },
          branches: ['**'],
        },
      ],
      borrower: ask('plum', 'x'),
      labels: missing,
      granted: true,
    },
    {
      why: 'entries are alternatives',
      grants: [{ branches: ['a'] }, { branches: ['b'] }],
      borrower: ask('platform', 'b'),
      labels: tenant,
      granted: true,
    },
    {
      why: 'parts of different entries do not add up',
      grants: [{ branches: ['a'] }, { namespaces: { names: ['plum'] }, branches: ['b'] }],
      borrower: ask('plum', 'a'),
      labels: tenant,
      granted: false,
    },
  ])('$why: $granted', ({ grants, borrower, labels, granted }) => {
    expect(decide(provider(grants), borrower, labels).kind).toBe(granted ? 'granted' : 'denied');
  });

  it('says which entry matched', () => {
    expect(decide(provider([{ branches: ['a'] }, { branches: ['b'] }]), ask('platform', 'b'), tenant)).toEqual({
      kind: 'granted',
      entry: 1,
    });
  });

  it('names the first failing part of the entry that came furthest, and the smallest grant', () => {
    const lender = provider([{ branches: ['secret-*'] }, { namespaces: { names: ['plum'] }, branches: ['other'] }]);

    expect(decide(lender, ask('plum', 'main'), tenant)).toEqual({
      kind: 'denied',
      part: 'branches',
      grant: '{namespaces: {names: [plum]}, branches: [main]}',
      message:
        'GitProvider platform/repo does not admit branch main from namespace plum: no entry of spec.allowedGitBranches has branches that match branch main; the smallest entry of its spec.allowedGitBranches that would: {namespaces: {names: [plum]}, branches: [main]}',
    });
  });

  it('AZ-7: never names other grants or selector contents', () => {
    const lender = provider([
      { namespaces: { names: ['fig'], selector: { matchLabels: { team: 'x-ray' } } }, branches: ['secret-project'] },
    ]);
    const { message } = decide(lender, ask('plum', 'main'), tenant) as { readonly message: string };

    expect(message).not.toMatch(/fig|x-ray|secret-project/u);
  });

  it('the smallest grant would admit', () => {
    const borrower = ask('plum', 'release/1.2');
    const smallest = [{ namespaces: { names: ['plum'] }, branches: ['release/1.2'] }];

    expect(decide(provider([]), borrower, tenant)).toMatchObject({
      grant: '{namespaces: {names: [plum]}, branches: [release/1.2]}',
    });
    expect(decide(provider(smallest), borrower, unreadable).kind).toBe('granted');
  });

  it('quotes what YAML would misread', () => {
    expect(decide(provider([]), ask('platform', '123'), tenant)).toMatchObject({ grant: '{branches: ["123"]}' });
    expect(decide(provider([]), ask('platform', 'true'), tenant)).toMatchObject({ grant: '{branches: ["true"]}' });
  });
});

describe('GitBranch lends to GitTarget', () => {
  const ask = (namespace: string, path: string) => ({ kind: 'GitTarget', namespace, path }) as const;

  it.each([
    { why: '[{}] is own namespace, any folder', grants: [{}], borrower: ask('platform', 'a/b'), granted: true },
    { why: '[{}] is not another namespace', grants: [{}], borrower: ask('plum', 'a'), granted: false },
    {
      why: 'own folder',
      grants: [{ namespaces: { selector: {} }, paths: ['teams/{namespace}'] }],
      borrower: ask('plum', 'teams/plum/prod'),
      granted: true,
    },
    {
      why: "somebody else's folder",
      grants: [{ namespaces: { selector: {} }, paths: ['teams/{namespace}'] }],
      borrower: ask('plum', 'teams/fig'),
      granted: false,
    },
    { why: 'the root needs .', grants: [{ paths: ['teams'] }], borrower: ask('platform', '.'), granted: false },
    { why: '. is every folder', grants: [{ paths: ['.'] }], borrower: ask('platform', '.'), granted: true },
  ])('$why: $granted', ({ grants, borrower, granted }) => {
    expect(decide(branch(grants), borrower, tenant).kind).toBe(granted ? 'granted' : 'denied');
  });

  it('names the folder', () => {
    expect(decide(branch([{ paths: ['teams/{namespace}'] }]), ask('platform', 'teams/other'), tenant)).toMatchObject({
      part: 'paths',
      grant: '{paths: [teams/other]}',
    });
  });
});

describe('KubeProvider lends to GitTarget and WatchRule', () => {
  const target = { kind: 'GitTarget', namespace: 'plum', path: 'a' } as const;
  const rule = (sourceNamespace: string) => ({ kind: 'WatchRule', namespace: 'plum', sourceNamespace }) as const;
  const grants = [
    { namespaces: { names: ['plum'] } },
    { namespaces: { names: ['plum'] }, sourceNamespaces: ['shared', '{namespace}-test'] },
    { namespaces: { names: ['fig'] }, sourceNamespaces: ['*'] },
  ];

  it('AZ-5: scopes of all matching entries add up', () => {
    expect(decide(cluster({ allowedGitTargets: grants.slice(0, 1) }), target, unreadable)).toEqual({
      kind: 'granted',
      entry: 0,
      scope: { any: false, namespaces: ['plum'] },
    });
    expect(
      decide(
        cluster({
          allowedGitTargets: [...grants.slice(0, 1), { namespaces: { names: ['plum'] }, sourceNamespaces: ['shared'] }],
        }),
        target,
        tenant,
      ),
    ).toEqual({
      kind: 'granted',
      entry: 0,
      scope: { any: false, namespaces: ['plum', 'shared'] },
    });
  });

  it('a given list is exhaustive, the own namespace included', () => {
    const lender = cluster({ allowedGitTargets: [{ namespaces: { names: ['plum'] }, sourceNamespaces: ['shared'] }] });

    expect(decide(lender, rule('shared'), tenant).kind).toBe('granted');
    expect(decide(lender, rule('plum'), tenant)).toMatchObject({
      kind: 'denied',
      part: 'sourceNamespaces',
      grant: '{namespaces: {names: [plum]}}',
    });
  });

  it('* asks for every namespace and needs *', () => {
    const own = cluster({ allowedGitTargets: [{ namespaces: { names: ['plum'] } }] });
    const any = cluster({ allowedGitTargets: [{ namespaces: { names: ['plum'] }, sourceNamespaces: ['*'] }] });

    expect(decide(own, rule('*'), tenant)).toMatchObject({
      kind: 'denied',
      part: 'sourceNamespaces',
      grant: '{namespaces: {names: [plum]}, sourceNamespaces: ["*"]}',
    });
    expect(decide(any, rule('*'), tenant)).toMatchObject({ kind: 'granted', scope: { any: true } });
    expect(decide(any, rule('kube-system'), tenant).kind).toBe('granted');
  });

  it('tells what a scope holds', () => {
    const scope = { any: false, namespaces: ['plum'] };

    expect([
      admitsSourceNamespace(scope, 'plum'),
      admitsSourceNamespace(scope, 'fig'),
      admitsSourceNamespace(scope, '*'),
    ]).toEqual([true, false, false]);
    expect(admitsSourceNamespace({ any: true, namespaces: [] }, '*')).toBe(true);
  });

  it('a stored entry without namespaces is unreadable: a cluster-scoped lender has no own namespace', () => {
    const stored = { allowedGitTargets: [{}] } as unknown as Pick<KubeProviderLender, 'allowedGitTargets'>;

    expect(decide(cluster(stored), target, tenant).kind).toBe('unreadable');
  });
});

describe('KubeProvider lends to claims', () => {
  const ask = (kind: 'FluxClaim' | 'ArgoCDClaim', namespace: string, applierNamespace: string) =>
    ({ kind, namespace, applierNamespace }) as const;

  it.each([
    {
      why: 'both kinds and the own namespace when left out',
      grants: [{ namespaces: { names: ['plum'] } }],
      borrower: ask('FluxClaim', 'plum', 'plum'),
      granted: true,
    },
    {
      why: 'another applier namespace needs an entry',
      grants: [{ namespaces: { names: ['plum'] } }],
      borrower: ask('FluxClaim', 'plum', 'flux-system'),
      granted: false,
    },
    {
      why: 'globs of applier namespaces',
      grants: [{ namespaces: { names: ['plum'] }, applierNamespaces: ['flux-*'] }],
      borrower: ask('FluxClaim', 'plum', 'flux-system'),
      granted: true,
    },
    {
      why: 'only the kinds that are listed',
      grants: [{ namespaces: { names: ['plum'] }, kinds: ['FluxClaim' as const] }],
      borrower: ask('ArgoCDClaim', 'plum', 'plum'),
      granted: false,
    },
  ])('$why: $granted', ({ grants, borrower, granted }) => {
    expect(decide(cluster({ allowedApplierClaims: grants }), borrower, tenant).kind).toBe(
      granted ? 'granted' : 'denied',
    );
  });

  it('AZ-6: being admitted for targets admits no claim', () => {
    const lender = cluster({ allowedGitTargets: [{ namespaces: { selector: {} } }] });

    expect(decide(lender, ask('FluxClaim', 'plum', 'plum'), tenant)).toMatchObject({
      kind: 'denied',
      part: 'list',
      grant: '{namespaces: {names: [plum]}, kinds: [FluxClaim]}',
    });
  });
});

describe('12.2: unreadable grants', () => {
  const ask = { kind: 'GitBranch', namespace: 'plum', branch: 'main' } as const;
  const bySelector = { namespaces: { selector: { matchLabels: { tier: 'tenant' } } }, branches: ['**'] };

  it('a Namespace that cannot be read is neither granted nor denied', () => {
    expect(decide(provider([bySelector]), ask, unreadable)).toEqual({
      kind: 'unreadable',
      cause: 'Namespace plum could not be read: 403',
      message:
        'GitProvider platform/repo: whether spec.allowedGitBranches admits branch main from namespace plum cannot be told: Namespace plum could not be read: 403',
    });
  });

  it('what fails anyway is denied, whatever the labels say', () => {
    expect(decide(provider([{ ...bySelector, branches: ['other'] }]), ask, unreadable)).toMatchObject({
      kind: 'denied',
      part: 'branches',
    });
  });

  it('another entry that matches grants', () => {
    expect(
      decide(provider([bySelector, { namespaces: { names: ['plum'] }, branches: ['main'] }]), ask, unreadable),
    ).toMatchObject({ kind: 'granted', entry: 1 });
  });

  it('a scope that may be larger says so, so that nobody narrows an earlier one', () => {
    const lender = cluster({
      allowedGitTargets: [
        { namespaces: { names: ['plum'] } },
        { namespaces: { selector: { matchLabels: { tier: 'tenant' } } }, sourceNamespaces: ['shared'] },
      ],
    });

    expect(decide(lender, { kind: 'GitTarget', namespace: 'plum', path: 'a' }, unreadable)).toMatchObject({
      kind: 'granted',
      scope: { any: false, namespaces: ['plum'] },
      incomplete: 'Namespace plum could not be read: 403',
    });
    expect(decide(lender, { kind: 'WatchRule', namespace: 'plum', sourceNamespace: 'shared' }, unreadable).kind).toBe(
      'unreadable',
    );
  });

  it.each([
    ['an illegal name', { names: ['plum', '*'] }],
    ['a malformed selector', { names: ['plum'], selector: { matchExpressions: [{ key: 'a', operator: 'Gt' }] } }],
    ['a selector that is none', { selector: 'tier=tenant' }],
  ])('%s makes the whole matcher unreadable, never a smaller policy', (_, namespaces) => {
    const stored = [{ namespaces, branches: ['**'] }] as unknown as NonNullable<
      GitProviderLender['allowedGitBranches']
    >;
    const decision = decide(provider(stored), ask, tenant);

    expect(decision.kind).toBe('unreadable');
    expect(JSON.stringify(decision)).not.toMatch(/Gt|tier/u);
  });

  it('labels are asked for only where a selector needs them', () => {
    expect(needsNamespaceLabels(provider([{ branches: ['main'] }]), ask)).toBe(false);
    expect(
      needsNamespaceLabels(
        provider([{ namespaces: { names: ['plum'], selector: { matchLabels: { a: 'b' } } }, branches: ['main'] }]),
        ask,
      ),
    ).toBe(false);
    expect(needsNamespaceLabels(provider([{ namespaces: { selector: {} }, branches: ['main'] }]), ask)).toBe(false);
    expect(needsNamespaceLabels(provider([bySelector]), ask)).toBe(true);
  });

  it('a lender lends only what it has', () => {
    const wrong = { kind: 'GitTarget', namespace: 'a', path: 'b' } as unknown as typeof ask;

    expect(() => decide(provider([]), wrong, tenant)).toThrow('GitProvider lends nothing to a GitTarget');
  });
});
