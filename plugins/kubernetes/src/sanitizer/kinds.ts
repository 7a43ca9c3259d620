import type { JsonObject, JsonValue, KubeObject, ResourceType } from '@gitops-reverser/kernel-api';
import { at, drop, isEmpty, isList, isMap, rewrite, without } from './json.js';

/** What a server or controller fills in, by group and kind (chapter 20, 3.5). `desired` is under way, `live` is as observed. */
interface KindRule {
  /** For the reference: what goes, and when. */
  readonly doc: string;
  apply(desired: JsonObject, live: KubeObject): JsonObject;
}

const INJECTED =
  'every `caBundle`, where an annotation `cert-manager.io/inject-*` or `service.beta.openshift.io/inject-cabundle: "true"` has it injected';

const RULES: Readonly<Record<string, KindRule>> = {
  '/Service': {
    doc: '`spec.clusterIP` and `clusterIPs` unless headless; `healthCheckNodePort`; `ipFamilies` and `ipFamilyPolicy` of a single-stack IPv4 Service; `internalTrafficPolicy: Cluster`',
    apply: service,
  },
  '/Pod': { doc: '`spec.nodeName`; volumes `kube-api-access-*` and their mounts', apply: pod },
  '/PersistentVolumeClaim': {
    doc: '`spec.volumeName` that a controller chose; `volumeMode: Filesystem`',
    apply: persistentVolumeClaim,
  },
  '/PersistentVolume': {
    doc: '`spec.claimRef.uid` and `resourceVersion`',
    apply: (desired) => drop(drop(desired, 'spec', 'claimRef', 'uid'), 'spec', 'claimRef', 'resourceVersion'),
  },
  '/ServiceAccount': {
    doc: 'of `secrets` and `imagePullSecrets` what was minted for it: `NAME-token-*`, `NAME-dockercfg-*`',
    apply: serviceAccount,
  },
  '/Namespace': {
    doc: '`spec.finalizers`',
    apply: (desired) => withoutEmpty(drop(desired, 'spec', 'finalizers'), 'spec'),
  },
  'batch/Job': {
    doc: 'unless `spec.manualSelector: true`: `spec.selector`; the labels `controller-uid` and `job-name`, with `batch.kubernetes.io/` and without, of its template, and its own where they name itself',
    apply: job,
  },
  'rbac.authorization.k8s.io/ClusterRole': {
    doc: '`rules` of one with an `aggregationRule`',
    apply: (desired) => (isMap(desired['aggregationRule']) ? drop(desired, 'rules') : desired),
  },
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': { doc: INJECTED, apply: injectedBundles('webhooks') },
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': { doc: INJECTED, apply: injectedBundles('webhooks') },
  'apiregistration.k8s.io/APIService': { doc: INJECTED, apply: injectedBundles('spec') },
  // A schema may have a property of that name, and a default for it.
  'apiextensions.k8s.io/CustomResourceDefinition': { doc: INJECTED, apply: injectedBundles('spec', 'conversion') },
};

/** For the reference. `group` is empty for core types. */
export const FIELD_RULES: readonly { readonly group: string; readonly kind: string; readonly doc: string }[] =
  Object.entries(RULES).map(([name, { doc }]) => {
    const [group = '', kind = ''] = name.split('/');
    return { group, kind, doc };
  });

export function applyKindRules(desired: JsonObject, live: KubeObject, type: ResourceType): JsonObject {
  const rule = RULES[`${type.group}/${type.kind}`];
  return rule === undefined ? desired : rule.apply(desired, live);
}

function withoutEmpty(map: JsonObject, ...path: string[]): JsonObject {
  return rewrite(map, path, (value) => (isMap(value) && isEmpty(value) ? undefined : value));
}

function service(desired: JsonObject): JsonObject {
  let next = drop(desired, 'spec', 'healthCheckNodePort');
  if (!isHeadless(next)) next = drop(drop(next, 'spec', 'clusterIP'), 'spec', 'clusterIPs');
  const policy = at(next, 'spec', 'ipFamilyPolicy');
  const families = at(next, 'spec', 'ipFamilies');
  const isOnlyIPv4 = families === undefined || (isList(families) && families.length === 1 && families[0] === 'IPv4');
  if (isOnlyIPv4 && (policy === undefined || policy === 'SingleStack')) {
    next = drop(drop(next, 'spec', 'ipFamilies'), 'spec', 'ipFamilyPolicy');
  }
  return at(next, 'spec', 'internalTrafficPolicy') === 'Cluster' ? drop(next, 'spec', 'internalTrafficPolicy') : next;
}

/** The address of such a Service is a word of its author; of the two fields only the list may have been written. */
function isHeadless(service: JsonObject): boolean {
  const address = at(service, 'spec', 'clusterIP');
  const addresses = at(service, 'spec', 'clusterIPs');
  return address === 'None' || (address === undefined && isList(addresses) && addresses[0] === 'None');
}

function pod(desired: JsonObject): JsonObject {
  const isTokenVolume = (item: JsonValue): boolean =>
    isMap(item) && typeof item['name'] === 'string' && item['name'].startsWith('kube-api-access-');
  const keepItems = (value: JsonValue): JsonValue | undefined => {
    if (!isList(value) || !value.some(isTokenVolume)) return value;
    const kept = value.filter((item) => !isTokenVolume(item));
    return kept.length === 0 ? undefined : kept;
  };
  const unmount = (value: JsonValue): JsonValue =>
    isList(value) ? value.map((item) => (isMap(item) ? rewrite(item, ['volumeMounts'], keepItems) : item)) : value;
  let next = rewrite(drop(desired, 'spec', 'nodeName'), ['spec', 'volumes'], keepItems);
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'])
    next = rewrite(next, ['spec', list], unmount);
  return next;
}

function persistentVolumeClaim(desired: JsonObject, live: KubeObject): JsonObject {
  const isBoundByController = live.metadata.annotations?.['pv.kubernetes.io/bound-by-controller'] !== undefined;
  const next = isBoundByController ? drop(desired, 'spec', 'volumeName') : desired;
  return at(next, 'spec', 'volumeMode') === 'Filesystem' ? drop(next, 'spec', 'volumeMode') : next;
}

function serviceAccount(desired: JsonObject, live: KubeObject): JsonObject {
  const minted = [`${live.metadata.name}-token-`, `${live.metadata.name}-dockercfg-`];
  const isMinted = (item: JsonValue): boolean => {
    const name = isMap(item) ? item['name'] : undefined;
    return typeof name === 'string' && minted.some((start) => name.startsWith(start));
  };
  const authored = (value: JsonValue): JsonValue | undefined => {
    if (!isList(value)) return value;
    const kept = value.filter((item) => !isMinted(item));
    if (kept.length === 0) return undefined;
    return kept.length === value.length ? value : kept;
  };
  return rewrite(rewrite(desired, ['secrets'], authored), ['imagePullSecrets'], authored);
}

const JOB_LABELS = ['controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name'];

function job(desired: JsonObject, live: KubeObject): JsonObject {
  if (at(live, 'spec', 'manualSelector') === true) return desired;
  const own = [live.metadata.uid, live.metadata.name];
  const isOwn = (key: string, value: JsonValue): boolean => JOB_LABELS.includes(key) && own.includes(String(value));
  const labelled = (value: JsonValue): JsonValue =>
    isMap(value) ? without(value, (key) => JOB_LABELS.includes(key)) : value;
  let next = drop(desired, 'spec', 'selector');
  next = rewrite(next, ['spec', 'template', 'metadata', 'labels'], labelled);
  next = withoutEmpty(next, 'spec', 'template', 'metadata', 'labels');
  next = withoutEmpty(next, 'spec', 'template', 'metadata');
  next = rewrite(next, ['metadata', 'labels'], (value) => (isMap(value) ? without(value, isOwn) : value));
  return withoutEmpty(next, 'metadata', 'labels');
}

/** Certificates another controller injects change with every rotation. @param path where bundles may lie */
function injectedBundles(...path: readonly string[]): KindRule['apply'] {
  return (desired, live) => {
    const annotations = Object.entries(live.metadata.annotations ?? {});
    const isInjected = annotations.some(
      ([key, value]) =>
        key.startsWith('cert-manager.io/inject-') ||
        (key === 'service.beta.openshift.io/inject-cabundle' && value === 'true'),
    );
    return isInjected ? rewrite(desired, path, withoutBundles) : desired;
  };
}

function withoutBundles(value: JsonValue): JsonValue {
  if (isList(value)) return value.map(withoutBundles);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'caBundle')
      .map(([key, child]) => [key, withoutBundles(child)]),
  );
}
