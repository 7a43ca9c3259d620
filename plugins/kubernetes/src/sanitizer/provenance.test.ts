import { compileStripRules, keyRules, type JsonObject, type KubeObject } from '@gitops-reverser/kernel-api';
import { createSanitizer } from './sanitizer.js';
import { none, sanitize, stripRules, typeOf } from './sanitizing.fixture.js';

describe('provenance gate', () => {
  it.each([
    { id: 'kube-root-ca', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt' } } },
    { id: 'injected-ca', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'istio-ca-root-cert' } } },
    {
      id: 'service-account-token',
      object: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 't' },
        type: 'kubernetes.io/service-account-token',
      },
    },
    {
      id: 'bootstrap-token',
      object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 't' }, type: 'bootstrap.kubernetes.io/token' },
    },
    {
      id: 'helm-release-store',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'sh.helm.release.v1.a.v1', labels: { owner: 'helm' } },
      },
    },
    {
      id: 'default-service-account',
      object: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', uid: 'u' },
        secrets: [{ name: 'default-token-x' }],
      },
    },
    {
      id: 'leader-lock',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'lock', annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } },
      },
    },
    {
      id: 'endpoints',
      object: {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'e', labels: { 'endpoints.kubernetes.io/managed-by': 'x' } },
      },
    },
    {
      id: 'rbac-default',
      object: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'view', labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
      },
    },
  ])('FC-SAN-8: drops what the cluster makes by itself ($id) unless a target asks for it', ({ id, object }) => {
    expect(sanitize(object)).toEqual({ kind: 'drop', reason: id });
    expect(sanitize(object, { include: [id], exclude: [] }).kind).toBe('keep');
    expect(sanitize(object, { include: ['*'], exclude: [] }).kind).toBe('keep');
    expect(
      createSanitizer({ defaultObjectExclusions: 'none', stripRules }).sanitize(
        object as KubeObject,
        typeOf(object),
        none,
      ).kind,
    ).toBe('keep');
  });

  it.each([
    {
      id: 'controller-owned',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', ownerReferences: [{ controller: true }] } },
    },
    {
      id: 'release-owned',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'm', labels: { 'helm.toolkit.fluxcd.io/name': 'r' } },
      },
    },
    {
      id: 'helm-cli-owned',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'm',
          labels: { 'app.kubernetes.io/managed-by': 'Helm' },
          annotations: { 'meta.helm.sh/release-name': 'r' },
        },
      },
    },
  ])('mirrors $id objects by default and drops them when a target excludes them', ({ id, object }) => {
    expect(sanitize(object).kind).toBe('keep');
    expect(sanitize(object, { include: [], exclude: [id] })).toEqual({ kind: 'drop', reason: id });
  });

  it.each([
    {
      why: 'only the exact generated name is noise',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'my-root-ca.crt' } },
    },
    {
      why: 'a default service account somebody configured is intent',
      object: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default' },
        imagePullSecrets: [{ name: 'pull' }],
      },
    },
    {
      why: 'a non-controller owner never filters',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'm', ownerReferences: [{ controller: false }] },
      },
    },
  ])('keeps what only looks generated: $why', ({ object }) => {
    expect(sanitize(object).kind).toBe('keep');
  });
});

describe('20, 2.2: row by row', () => {
  const object = (apiVersion: string, kind: string, metadata: JsonObject, more: JsonObject = {}): JsonObject => ({
    apiVersion,
    kind,
    metadata: { name: 'x', ...metadata },
    ...more,
  });
  const rbac = 'rbac.authorization.k8s.io/v1';
  const bootstrapping = { labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } };
  const leader = { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } };
  const release = { name: 'sh.helm.release.v1.shop.v3', labels: { owner: 'helm' } };
  const managed = { labels: { 'endpoints.kubernetes.io/managed-by': 'x' } };
  const sliced = { labels: { 'endpointslice.kubernetes.io/managed-by': 'x' } };

  it.each<[string, string, JsonObject]>([
    ['injected-ca', 'the CA of OpenShift', object('v1', 'ConfigMap', { name: 'openshift-service-ca.crt' })],
    ['helm-release-store', 'a release by its type', object('v1', 'Secret', {}, { type: 'helm.sh/release.v1' })],
    ['helm-release-store', 'a release Secret by its label', object('v1', 'Secret', release)],
    ['leader-lock', 'Endpoints that lock', object('v1', 'Endpoints', leader)],
    [
      'endpoints',
      'Endpoints with a trigger time',
      object('v1', 'Endpoints', { annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '' } }),
    ],
    ['endpoints', 'a managed slice', object('discovery.k8s.io/v1', 'EndpointSlice', sliced)],
    ['rbac-default', 'a Role', object(rbac, 'Role', bootstrapping)],
    ['rbac-default', 'a RoleBinding', object(rbac, 'RoleBinding', bootstrapping)],
    ['rbac-default', 'a ClusterRoleBinding', object(rbac, 'ClusterRoleBinding', bootstrapping)],
  ])('%s drops %s', (id, _what, each) => {
    expect(sanitize(each)).toEqual({ kind: 'drop', reason: id });
  });

  it.each<[string, JsonObject]>([
    ['a CA map of another group', object('example.test/v1', 'ConfigMap', { name: 'kube-root-ca.crt' })],
    ['a Secret called like the CA map', object('v1', 'Secret', { name: 'kube-root-ca.crt' })],
    ['a Secret of another type', object('v1', 'Secret', {}, { type: 'kubernetes.io/tls' })],
    [
      'a token type outside the core',
      object('example.test/v1', 'Secret', {}, { type: 'kubernetes.io/service-account-token' }),
    ],
    ['a release name without its label', object('v1', 'Secret', { name: 'sh.helm.release.v1.shop.v3' })],
    ['the label of Helm without a release name', object('v1', 'ConfigMap', { labels: { owner: 'helm' } })],
    ['another kind that is called like a release', object('v1', 'Pod', release)],
    ['a lock of another kind', object('v1', 'Secret', leader)],
    ['a lock of another group', object('coordination.k8s.io/v1', 'ConfigMap', leader)],
    ['hand-written Endpoints', object('v1', 'Endpoints', {})],
    ['Endpoints with the label of a slice', object('v1', 'Endpoints', sliced)],
    ['a slice with the label of Endpoints', object('discovery.k8s.io/v1', 'EndpointSlice', managed)],
    ['Endpoints of another group', object('example.test/v1', 'Endpoints', managed)],
    ['another value of the RBAC label', object(rbac, 'Role', { labels: { 'kubernetes.io/bootstrapping': 'mine' } })],
    ['the RBAC label on another group', object('apps/v1', 'Deployment', bootstrapping)],
    ['another account with nothing to it', object('v1', 'ServiceAccount', { name: 'builder' })],
    ['a default account with a label', object('v1', 'ServiceAccount', { name: 'default', labels: { team: 'blue' } })],
    [
      'a default account that mounts no token',
      object('v1', 'ServiceAccount', { name: 'default' }, { automountServiceAccountToken: false }),
    ],
  ])('keeps %s', (_what, each) => {
    expect(sanitize(each).kind).toBe('keep');
  });

  it('an owner that is no controller, or no list, drops nothing', () => {
    const exclude = { include: [], exclude: ['controller-owned'] };
    const owned = (ownerReferences: JsonObject['x']): JsonObject => object('v1', 'ConfigMap', { ownerReferences });

    expect(sanitize(owned([{ controller: false }, { controller: true }]), exclude).kind).toBe('drop');
    for (const each of [
      [{ controller: false }],
      [{}],
      [],
      null,
      'text',
      { controller: true },
      [{ controller: 'true' }],
    ])
      expect(sanitize(owned(each), exclude).kind).toBe('keep');
  });

  it('one half of the marks of a Helm release drops nothing', () => {
    const exclude = { include: [], exclude: ['helm-cli-owned'] };
    const labels = { 'app.kubernetes.io/managed-by': 'Helm' };
    const annotations = { 'meta.helm.sh/release-name': 'r' };

    expect(sanitize(object('v1', 'ConfigMap', { labels }), exclude).kind).toBe('keep');
    expect(sanitize(object('v1', 'ConfigMap', { annotations }), exclude).kind).toBe('keep');
    expect(
      sanitize(object('v1', 'ConfigMap', { labels: { 'app.kubernetes.io/managed-by': 'helm' }, annotations }), exclude)
        .kind,
    ).toBe('keep');
  });

  it('of several filters that hold the first in the table is named', () => {
    const everything = object('v1', 'ConfigMap', {
      name: 'kube-root-ca.crt',
      ...leader,
      ownerReferences: [{ controller: true }],
      labels: { 'helm.toolkit.fluxcd.io/name': 'r' },
    });
    const ids = ['controller-owned', 'release-owned'];

    expect(sanitize(everything, { include: [], exclude: ids })).toMatchObject({ reason: 'kube-root-ca' });
    expect(sanitize(everything, { include: ['kube-root-ca'], exclude: ids })).toMatchObject({ reason: 'leader-lock' });
    expect(sanitize(everything, { include: ['*'], exclude: ids })).toMatchObject({ reason: 'controller-owned' });
    expect(sanitize(everything, { include: ['*'], exclude: ['release-owned'] })).toMatchObject({
      reason: 'release-owned',
    });
    expect(sanitize(everything, { include: ['*'], exclude: [] }).kind).toBe('keep');
  });

  it('where every default is off, a target may name a filter that is', () => {
    const sanitizer = createSanitizer({ defaultObjectExclusions: 'none', stripRules });
    const each = object('v1', 'ConfigMap', { name: 'kube-root-ca.crt' });

    expect(sanitize(each, none, sanitizer).kind).toBe('keep');
    expect(sanitize(each, { include: [], exclude: ['kube-root-ca'] }, sanitizer)).toMatchObject({
      reason: 'kube-root-ca',
    });
  });

  it('20, 2.1: who wrote it and with what never counts', () => {
    const managedFields = [{ manager: 'kustomize-controller', operation: 'Apply' }];

    expect(sanitize(object('apps/v1', 'Deployment', { managedFields })).kind).toBe('keep');
  });
});

it('20, 2.2: a default account is judged by what all plugins together leave of it', () => {
  const rules = compileStripRules([{ strips: keyRules('annotations', 'sync.example.test/'), keeps: [] }]);
  const sanitizer = createSanitizer({ defaultObjectExclusions: 'all', stripRules: rules });
  const account = (annotations: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', annotations },
  });

  expect(sanitize(account({ 'sync.example.test/by': 'x' }), none, sanitizer)).toMatchObject({
    reason: 'default-service-account',
  });
  expect(sanitize(account({ 'role.example.test/arn': 'x' }), none, sanitizer).kind).toBe('keep');
});
