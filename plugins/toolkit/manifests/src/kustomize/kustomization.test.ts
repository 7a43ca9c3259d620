import { parseKustomization } from './kustomization.js';

const codesOf = (text: string): readonly string[] =>
  parseKustomization(Buffer.from(text)).features.map(({ code }) => code);

describe('a kustomization that kustomize cannot decode (8.2: unparseable)', () => {
  it.each([
    'metadata: []',
    'metadata: {name: 1}',
    'metadata: {owner: me}',
    'commonLabels: {release: 1}',
    'commonLabels: {enabled: yes}',
    'commonLabels: [a]',
    'commonAnnotations: {a: {b: c}}',
    'commonAnnotations: x',
    'labels: {app: web}',
    'labels: [web]',
    'labels: [{pairs: {track: y}}]',
    'labels: [{pairs: {a: b}, includeSelector: true}]',
    'labels: [{pairs: {a: b}, includeSelectors: "true"}]',
    'buildMetadata: managedByLabel',
    'buildMetadata: [1]',
    'sortOptions: {}',
    'sortOptions: {order: random}',
    'sortOptions: {order: fifo, legacySortOptions: {orderFirst: [Namespace]}}',
    'generatorOptions: {disableNameSuffixHash: "true"}',
    'generatorOptions: {labels: {a: 1}}',
    'patches: [p.yaml]',
    'patches: [{path: p.yaml, target: []}]',
    'patches: [{path: p.yaml, target: {apiVersion: v1}}]',
    'patches: [{path: p.yaml, target: {kind: 1}}]',
  ])('%s', (text) => {
    expect(
      codesOf(`resources: [a.yaml]\n${text}\n${text.startsWith('generatorOptions') ? 'configMapGenerator: []\n' : ''}`),
    ).toEqual(['unparseable']);
  });

  it.each([
    'metadata: {name: x, annotations: {a: b}}',
    'commonLabels: {release: "1", none: null}',
    'commonLabels: null',
    'labels: [{pairs: {a: b}, includeSelectors: true, includeTemplates: false, fields: []}]',
    'buildMetadata: [managedByLabel, originAnnotations]',
    'sortOptions: {order: legacy, legacySortOptions: {orderFirst: [Namespace], orderLast: [Service]}}',
    'generatorOptions: {disableNameSuffixHash: true, immutable: false, labels: {a: b}}',
    'patches: [{path: p.yaml, target: {kind: Deployment, labelSelector: a=b}, options: {}}]',
  ])('but not for %s', (text) => {
    expect(codesOf(`resources: [a.yaml]\n${text}\n`)).toEqual([]);
  });
});

describe('a kustomization with nothing in it (8.9: render-failed, as in kustomize)', () => {
  it.each([
    'kind: Kustomization',
    'resources:',
    'bases: []',
    'namespace: ""\nimages: null',
    'imageTags: []',
    '# later',
  ])('%j', (text) => {
    expect(codesOf(text)).toEqual(['render-failed']);
  });

  it.each(['resources: []', 'images: []', 'metadata: {name: x}', 'commonLabels: {}', 'bases: []\nresources: []'])(
    'but it builds nothing and says nothing against %j',
    (text) => {
      expect(codesOf(text)).toEqual([]);
    },
  );
});
