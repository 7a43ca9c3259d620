import { compileStripRules, keyRules } from '@gitops-reverser/kernel-api';
import {
  parsePlacementTemplate,
  parseSensitiveResources,
  isSensitive,
  validatePlacement,
  type PlacementSpec,
} from './index.js';

/** Such as plugins declare. */
const rules = compileStripRules([
  { strips: keyRules('labels', 'kustomize.toolkit.fluxcd.io/', 'helm.toolkit.fluxcd.io/name'), keeps: [] },
]);

const problemOf = (template: string): string => {
  const parsed = parsePlacementTemplate(template, rules);
  return parsed.ok ? 'accepted' : parsed.error;
};

describe('template grammar', () => {
  it.each([
    '{namespace}/{group}/{resource}/{name}.yaml',
    '{name}{sensitiveSuffix}',
    'a/{namespace|_global}/{name}.yml',
    '{namespace|}/{name}.yaml',
    '{label:app.kubernetes.io/name|none}/{scope}/{kind}-{version}-{apiVersion}.yaml',
    '{label:team|}/{groupPath}/x.yaml',
    '{label:helm.toolkit.fluxcd.io/driftDetection}/{name}.yaml',
    '{label:my.kustomize.toolkit.fluxcd.io/name}/{name}.yaml',
    'a..b/{name}.yaml',
  ])('accepts %s', (template) => {
    expect(problemOf(template)).toBe('accepted');
  });

  it.each([
    ['{annotation:x}/a.yaml', 'unknown variable {annotation:x}; variables are {group}, {groupPath}'],
    ['{Name}.yaml', 'unknown variable {Name}'],
    ['{}.yaml', 'empty placeholder {}; variables are'],
    ['{name.yaml', 'unbalanced "{" in "{name.yaml"'],
    ['name}.yaml', 'unbalanced "}" in "name}.yaml"'],
    ['{na{me}}.yaml', 'unbalanced "{"'],
    ['{namespaceOrCluster}/{name}.yaml', '{namespace} already renders _cluster for cluster-scoped objects'],
    ['{name|x}.yaml', '{name|x}: name always has a value and takes no fallback'],
    ['{group|core}/{name}.yaml', 'group always has a value and takes no fallback'],
    ['{namespace|global}/{name}.yaml', 'a namespace may be called global and would share its files; use _global'],
    ['{namespace|..}/{name}.yaml', 'a fallback is empty or 1 to 63'],
    ['{label:a|b/c}/{name}.yaml', 'a fallback is empty or 1 to 63'],
    [`{label:a|${'x'.repeat(64)}}/{name}.yaml`, 'a fallback is empty or 1 to 63'],
    ['{label:}/{name}.yaml', '"" is no label key'],
    ['{label:-a}/{name}.yaml', '"-a" is no label key'],
    ['{label:A/b/c}/{name}.yaml', '"A/b/c" is no label key'],
    [
      '{label:kustomize.toolkit.fluxcd.io/name}/{name}.yaml',
      'label kustomize.toolkit.fluxcd.io/name never reaches Git (kustomize.toolkit.fluxcd.io/* is stripped)',
    ],
    ['{label:helm.toolkit.fluxcd.io/name}/{name}.yaml', 'helm.toolkit.fluxcd.io/name is stripped'],
    ['', 'the template is empty'],
    ['/a/{name}.yaml', 'is absolute; paths are relative to spec.path'],
    ['a\\{name}.yaml', 'holds a backslash'],
    ['../{name}.yaml', 'holds a .. segment'],
    ['a/../{name}.yaml', 'holds a .. segment'],
    ['./{name}.yaml', 'holds a . segment'],
    ['{name}', 'must end in .yaml, .yml or {sensitiveSuffix}'],
    ['{name}.json', 'must end in .yaml, .yml or {sensitiveSuffix}'],
    ['{sensitiveSuffix}/{name}', 'must end in .yaml, .yml or {sensitiveSuffix}'],
    ['a/kustomization.yaml', 'would write kustomization.yaml, which is no manifest'],
    ['a\u0007/{name}.yaml', 'holds a control character'],
    ['a\u0000/{name}.yaml', 'holds a control character'],
    [`${'a'.repeat(508)}.yaml`, 'a template has at most 512 characters, this one 513'],
    ['{{name}}.yaml', 'unbalanced "{"'],
    ['{name}}.yaml', 'unbalanced "}"'],
    ['a/{name}.yaml/', 'must end in .yaml, .yml or {sensitiveSuffix}'],
    ['{annotation:team}/{name}.yaml', 'unknown variable {annotation:team}; variables are {group}'],
    ['{name|x}.yaml', 'name always has a value and takes no fallback'],
    ['{label:team|..}/{name}.yaml', 'a fallback is empty or 1 to 63'],
    ['{label:team|a/b}/{name}.yaml', 'a fallback is empty or 1 to 63'],
  ])('refuses %j', (template, message) => {
    expect(problemOf(template)).toContain(message);
  });
});

describe('spec.placement', () => {
  it.each<[string, PlacementSpec]>([
    ['nothing', {}],
    ['a complete default', { default: '{namespace}/{groupPath}/{resource}/{name}{sensitiveSuffix}' }],
    [
      'a bundling default with a route for Secrets',
      { default: 'all.yaml', byType: { 'v1/secrets': '{namespace}/{name}{sensitiveSuffix}' } },
    ],
    ['bundles of plain types', { byType: { 'v1/configmaps': 'all.yaml', 'apps/v1/deployments': 'apps.yaml' } }],
  ])('accepts %s', (_, spec) => {
    expect(validatePlacement(spec).ok).toBe(true);
  });

  it.each<[string, PlacementSpec, string, string]>([
    [
      'a default that could mix Secrets',
      { default: 'all/{name}.yaml' },
      'default',
      'could put several Secrets into one file; add byType["v1/secrets"]',
    ],
    [
      'an incomplete route for Secrets',
      { byType: { 'v1/secrets': 'secrets/{name}.yaml' } },
      'byType["v1/secrets"]',
      'must contain {namespace} and {name}',
    ],
    [
      'an incomplete route for another sensitive type',
      { byType: { 'example.org/v1/tokens': '{name}.yaml' } },
      'byType["example.org/v1/tokens"]',
      'must contain {namespace} and {name}',
    ],
    [
      'a type without a version',
      { byType: { configmaps: '{name}.yaml' } },
      'byType["configmaps"]',
      'expected version/resource for the core group',
    ],
    [
      'a group without a version',
      { byType: { 'apps/deployments': '{name}.yaml' } },
      'byType["apps/deployments"]',
      'group/version/resource (apps/v1/deployments)',
    ],
    ['an empty group', { byType: { '/v1/secrets': '{namespace}{name}.yaml' } }, 'byType["/v1/secrets"]', 'is no type'],
  ])('refuses %s', (_, spec, field, message) => {
    const additional = parseSensitiveResources('example.org/Tokens');
    const checked = validatePlacement(spec, additional.ok ? additional.value : undefined);

    expect(checked).toEqual({ ok: false, error: [{ field, message: expect.stringContaining(message) as string }] });
  });

  it('reports every problem together', () => {
    const checked = validatePlacement({ default: '{x}', byType: { a: '/b.yaml' } });

    expect(checked.ok ? [] : checked.error.map(({ field }) => field)).toEqual([
      'byType["a"]',
      'byType["a"]',
      'default',
    ]);
  });
});

describe('sensitive types', () => {
  it('are core secrets and what is added, by group and resource', () => {
    const parsed = parseSensitiveResources(' ConfigMaps, example.org/APIKeys');
    const additional = parsed.ok ? parsed.value : new Set<string>();

    const verdicts = [
      isSensitive('', 'secrets'),
      isSensitive('example.org', 'secrets', additional),
      isSensitive('', 'configmaps', additional),
      isSensitive('example.org', 'configmaps', additional),
      isSensitive('example.org', 'apikeys', additional),
      isSensitive('', 'pods', additional),
    ];

    expect(verdicts).toEqual([true, false, true, false, true, false]);
  });

  it.each(['', '  '])('an empty list %j adds nothing', (list) => {
    expect(parseSensitiveResources(list)).toEqual({ ok: true, value: new Set() });
  });

  it.each(['a,', '/a', 'a/', 'apps/v1/deployments', 'a//b', 'a b', 'a_b', 'exa mple.org/x', '-a', '.org/x'])(
    'a malformed item stops the start: %j',
    (list) => {
      const parsed = parseSensitiveResources(list);

      expect(parsed.ok ? [] : parsed.error).toEqual([
        expect.stringContaining('expected resource or group/resource, without a version'),
      ]);
    },
  );
});
