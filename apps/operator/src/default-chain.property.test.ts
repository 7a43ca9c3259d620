import type { JsonObject, KubeObject } from '@gitops-reverser/kernel-api';
import { deepFreeze } from '@gitops-reverser/kernel-testing';
import fc from 'fast-check';
import { openChain, type Chain } from './default-chain.fixture.js';

let chain: Chain;
beforeAll(async () => {
  chain = await openChain();
});
afterAll(() => chain[Symbol.asyncDispose]());

describe('20, 3.1: over random objects', () => {
  const key = fc.constantFrom(
    'team',
    'kustomize.toolkit.fluxcd.io/name',
    'kustomize.toolkit.fluxcd.io/prune',
    'helm.toolkit.fluxcd.io/name',
    'argocd.argoproj.io/tracking-id',
    'argocd.argoproj.io/sync-wave',
    'kcp.io/cluster',
    'kubectl.kubernetes.io/last-applied-configuration',
    'pv.kubernetes.io/bound-by-controller',
    'cert-manager.io/inject-ca-from',
    'job-name',
    '__proto__',
  );
  const keys = fc.option(fc.dictionary(key, fc.constantFrom('', 'x', 'web', 'u'), { maxKeys: 6 }), { nil: undefined });
  const name = fc.constantFrom('web', 'default', 'kube-root-ca.crt');
  const kind = fc.constantFrom(
    ['v1', 'ConfigMap'],
    ['v1', 'Service'],
    ['v1', 'Pod'],
    ['v1', 'ServiceAccount'],
    ['v1', 'PersistentVolumeClaim'],
    ['v1', 'Namespace'],
    ['batch/v1', 'Job'],
    ['apps/v1', 'Deployment'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
    ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
    ['example.test/v1', 'Gizmo'],
  );
  const field = fc.constantFrom(
    'metadata',
    'creationTimestamp',
    'clusterIP',
    'clusterIPs',
    'ipFamilies',
    'selector',
    'template',
    'labels',
    'volumes',
    'containers',
    'volumeMounts',
    'name',
    'caBundle',
    'finalizers',
    'claimRef',
    'status',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      fc.constantFrom(null, true, 0, 1.5, 9223372036854775807n, '', 'None', 'IPv4', 'kube-api-access-x', 'web-token-1'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(field, tie('value'), { maxKeys: 5 }),
    ),
  }));
  const object = fc
    .record({
      kind,
      name,
      labels: keys,
      annotations: keys,
      metadata: fc.dictionary(fc.constantFrom('uid', 'generateName', 'finalizers', 'unknown'), value),
      payload: fc.dictionary(
        fc.constantFrom('spec', 'data', 'status', 'webhooks', 'secrets', 'rules', 'aggregationRule', 'anything'),
        value,
      ),
    })
    .map(({ kind: [apiVersion, kindName], name: text, labels, annotations, metadata, payload }) => ({
      apiVersion,
      kind: kindName,
      metadata: {
        ...metadata,
        name: text,
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
      },
      ...payload,
    })) as unknown as fc.Arbitrary<KubeObject>;

  it('it is pure, total and the same the second time, and adds nothing', () => {
    fc.assert(
      fc.property(object, (live) => {
        const once = chain.sanitize(deepFreeze(live));
        expect(chain.sanitize(live)).toEqual(once);
        if (once.kind === 'drop') return;
        expect(chain.sanitize(once.object)).toEqual(once);
        expect(Object.keys(once.object).filter((each) => !Object.hasOwn(live, each) || each === 'status')).toEqual([]);
        expect(once.object['anything'] === undefined).toBe(live['anything'] === undefined);
        const { stripRules } = chain.kernel.registry;
        const { labels: keptLabels, annotations: keptAnnotations } = once.object.metadata;
        for (const key of Object.keys(keptLabels ?? {})) expect(stripRules.strippedBy('labels', key)).toBeUndefined();
        for (const key of Object.keys(keptAnnotations ?? {}))
          expect(stripRules.strippedBy('annotations', key)).toBeUndefined();
        if (live.kind === 'Gizmo' && !JSON.stringify(live, bigAsText).includes('creationTimestamp'))
          expect(withoutMetadata(once.object)).toEqual(withoutMetadata(live));
      }),
      { numRuns: 500 },
    );
  });

  const bigAsText = (_key: string, each: unknown): unknown => (typeof each === 'bigint' ? `${each}` : each);
  const withoutMetadata = ({ metadata: _metadata, status: _status, ...rest }: KubeObject): JsonObject =>
    Object.fromEntries(Object.entries(rest));
});
