import {
  refOf,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type ObjectRef,
  type PlanStep,
  type ResourceType,
} from '@gitops-reverser/kernel-api';

export const configMaps: ResourceType = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};
export const secrets: ResourceType = {
  group: '',
  version: 'v1',
  resource: 'secrets',
  kind: 'Secret',
  namespaced: true,
};
export const services: ResourceType = {
  group: '',
  version: 'v1',
  resource: 'services',
  kind: 'Service',
  namespaced: true,
};
export const namespaces: ResourceType = {
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
export const deployments: ResourceType = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
/** A custom resource of nobody's. */
export const widgets: ResourceType = {
  group: 'example.test',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

const TYPES: readonly ResourceType[] = [configMaps, secrets, services, namespaces, deployments, widgets];

export interface ObjectFacts {
  /** Default: the type's own word, such as `configmap`. */
  readonly name?: string;
  /** Default `demo`; ignored for cluster-scoped types. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** `uid`, `resourceVersion`, `managedFields` and whatever else metadata may hold. */
  readonly metadata?: JsonObject;
}
type Facts<T> = string | (ObjectFacts & T);
type Fields = Readonly<Record<string, JsonValue>>;

/** Any object of any type. */
export function anObject(type: ResourceType, facts: Facts<unknown>, body: Fields = {}): KubeObject {
  const {
    name,
    namespace = 'demo',
    labels,
    annotations,
    metadata,
  } = typeof facts === 'string' ? ({ name: facts } as ObjectFacts) : (facts as ObjectFacts);
  return {
    apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: {
      name: name ?? type.kind.toLowerCase(),
      ...(type.namespaced ? { namespace } : {}),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...metadata,
    },
    ...body,
  };
}

export function aConfigMap(facts: Facts<{ readonly data?: Readonly<Record<string, string>> }> = {}): KubeObject {
  const data = typeof facts === 'string' ? undefined : facts.data;
  return anObject(configMaps, facts, { data: data ?? { colour: 'blue' } });
}

/** `data` is given in clear and stored in base64, as the API serves it. */
export function aSecret(
  facts: Facts<{ readonly data?: Readonly<Record<string, string>>; readonly type?: string }> = {},
): KubeObject {
  const { data = { password: 'hunter2-not-a-real-one' }, type = 'Opaque' } = typeof facts === 'string' ? {} : facts;
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  return anObject(secrets, facts, { type, data: encoded });
}

export function aDeployment(facts: Facts<{ readonly replicas?: number; readonly image?: string }> = {}): KubeObject {
  const { replicas = 1, image = 'registry.example.test/app:1.0' } = typeof facts === 'string' ? {} : facts;
  const labels = { app: typeof facts === 'string' ? facts : (facts.name ?? 'deployment') };
  return anObject(deployments, facts, {
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image }] } },
    },
  });
}

export function aService(facts: Facts<{ readonly port?: number }> = {}): KubeObject {
  const { port = 80 } = typeof facts === 'string' ? {} : facts;
  return anObject(services, facts, {
    spec: { ports: [{ port, protocol: 'TCP', targetPort: port }], selector: { app: 'app' } },
  });
}

export function aNamespace(facts: Facts<unknown> = {}): KubeObject {
  return anObject(namespaces, facts);
}

export function aWidget(facts: Facts<{ readonly spec?: JsonObject }> = {}): KubeObject {
  const spec = typeof facts === 'string' ? undefined : facts.spec;
  return anObject(widgets, facts, { spec: spec ?? { size: 3, colours: ['red', 'blue'] } });
}

/** The same object as the API server would hold it after `resourceVersion` writes. */
export function observed(
  object: KubeObject,
  facts: { readonly resourceVersion?: string; readonly uid?: string } = {},
): KubeObject {
  const { resourceVersion = '1', uid = `uid-of-${object.metadata.name}` } = facts;
  return {
    ...object,
    metadata: { ...object.metadata, uid, resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
  };
}

/** The reference of an object of one of the types above, or of `type`. */
export function refTo(object: KubeObject, type?: ResourceType): ObjectRef {
  const apiVersionOf = ({ group, version }: ResourceType): string => (group === '' ? version : `${group}/${version}`);
  const found = type ?? TYPES.find((known) => known.kind === object.kind && apiVersionOf(known) === object.apiVersion);
  if (found === undefined)
    throw new TypeError(`refTo: ${object.apiVersion} ${object.kind} is none of the kit's types; pass its type`);
  return refOf(found, object);
}

export function putDocument(
  path: string,
  object: KubeObject,
  facts: { readonly sensitive?: boolean; readonly type?: ResourceType } = {},
): PlanStep {
  return {
    kind: 'put-document',
    path,
    ref: refTo(object, facts.type),
    object,
    sensitive: facts.sensitive ?? object.kind === 'Secret',
  };
}

export function dropDocument(path: string, object: KubeObject, type?: ResourceType): PlanStep {
  return { kind: 'drop-document', path, ref: refTo(object, type) };
}

/** The type of an object of a usual plural: enough for data that does not name its resource. */
export function typeOf({ apiVersion, kind, metadata }: KubeObject): ResourceType {
  const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
  return {
    group,
    version,
    kind,
    resource: pluralOf(kind.toLowerCase()),
    namespaced: metadata?.namespace !== undefined,
  };
}

function pluralOf(singular: string): string {
  if (singular.endsWith('endpoints')) return singular;
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/** Freezes a value and everything below it, so that a mutation throws where it happens. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const below of Object.values(value)) deepFreeze(below);
  return value;
}
