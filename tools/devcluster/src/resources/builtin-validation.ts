import { type JsonObject, type KubeObject, isEqual, isObject, valueAt } from '../object.js';
import type { StatusCause } from '../status.js';
import { invalid, required } from './resource-type.js';
import { matchesLabelSelector } from '../store/selectors.js';

/**
 * The checks whose refusals tests and people meet most. Not the whole of upstream validation: what is not checked here is
 * accepted, as the README says.
 */
export function validateBuiltin(
  kind: string,
  object: KubeObject,
  previous: KubeObject | undefined,
): readonly StatusCause[] {
  return [...(checksByKind[kind]?.(object, previous) ?? [])];
}

type Check = (object: KubeObject, previous: KubeObject | undefined) => Iterable<StatusCause>;

// 1_048_576: MaxSecretSize and the ConfigMap limit.
const dataLimitBytes = 1_048_576;
const dataKey = /^[-._a-zA-Z0-9]+$/;

function* dataChecks(object: KubeObject, previous: KubeObject | undefined): Iterable<StatusCause> {
  let bytes = 0;
  for (const field of ['data', 'binaryData']) {
    const data = object[field];
    for (const [key, value] of Object.entries(isObject(data) ? data : {})) {
      if (!dataKey.test(key))
        yield invalid(
          `${field}[${key}]`,
          key,
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        );
      bytes += key.length + String(value).length;
    }
  }
  if (bytes > dataLimitBytes)
    yield { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${dataLimitBytes} bytes`, field: '' };
  if (previous?.['immutable'] === true) {
    for (const field of ['data', 'binaryData', 'immutable'])
      if (!isEqual(object[field], previous[field]))
        yield {
          reason: 'FieldValueForbidden',
          message: 'Forbidden: field is immutable when `immutable` is set',
          field,
        };
  }
}

function* selectorChecks(object: KubeObject, previous: KubeObject | undefined): Iterable<StatusCause> {
  const selector = valueAt(object, 'spec', 'selector');
  const labels = valueAt(object, 'spec', 'template', 'metadata', 'labels');
  if (selector === undefined) yield required('spec.selector');
  else if (!matchesLabelSelector(selector, isObject(labels) ? (labels as Readonly<Record<string, string>>) : {}))
    yield invalid(
      'spec.template.metadata.labels',
      isObject(labels) ? labels : {},
      '`selector` does not match template `labels`',
    );
  if (previous !== undefined && !isEqual(selector, valueAt(previous, 'spec', 'selector')))
    yield invalid('spec.selector', selector, 'field is immutable');
  yield* podSpecChecks(valueAt(object, 'spec', 'template', 'spec'), 'spec.template.spec');
}

function* podSpecChecks(spec: unknown, path: string): Iterable<StatusCause> {
  const containers = isObject(spec) ? spec['containers'] : undefined;
  if (!Array.isArray(containers) || containers.length === 0) {
    yield required(`${path}.containers`);
    return;
  }
  const names = new Set<string>();
  for (const [index, container] of (containers as JsonObject[]).entries()) {
    const name = typeof container['name'] === 'string' ? container['name'] : '';
    if (name === '') yield required(`${path}.containers[${index}].name`);
    else if (names.has(name))
      yield {
        reason: 'FieldValueDuplicate',
        message: `Duplicate value: ${JSON.stringify(name)}`,
        field: `${path}.containers[${index}].name`,
      };
    names.add(name);
    if (typeof container['image'] !== 'string' || container['image'] === '')
      yield required(`${path}.containers[${index}].image`);
  }
}

function* roleRefChecks(object: KubeObject, previous: KubeObject | undefined): Iterable<StatusCause> {
  if (previous !== undefined && !isEqual(object['roleRef'], previous['roleRef']))
    yield invalid('roleRef', object['roleRef'], 'cannot change roleRef');
}

const checksByKind: Readonly<Record<string, Check>> = {
  ConfigMap: dataChecks,
  *Secret(object, previous) {
    yield* dataChecks(object, previous);
    if (previous !== undefined && object['type'] !== previous['type'])
      yield invalid('type', object['type'], 'field is immutable');
  },
  *Service(object) {
    const ports = valueAt(object, 'spec', 'ports');
    if (
      !Array.isArray(ports) &&
      valueAt(object, 'spec', 'type') !== 'ExternalName' &&
      valueAt(object, 'spec', 'clusterIP') !== 'None'
    )
      yield required('spec.ports');
    for (const [index, port] of (Array.isArray(ports) ? (ports as JsonObject[]) : []).entries()) {
      const number = port['port'];
      if (typeof number !== 'number' || number < 1 || number > 65535)
        yield invalid(`spec.ports[${index}].port`, number, 'must be between 1 and 65535, inclusive');
    }
  },
  *Pod(object) {
    yield* podSpecChecks(object['spec'], 'spec');
  },
  *Deployment(object, previous) {
    const replicas = valueAt(object, 'spec', 'replicas');
    if (typeof replicas === 'number' && replicas < 0)
      yield invalid('spec.replicas', replicas, 'must be greater than or equal to 0');
    yield* selectorChecks(object, previous);
  },
  StatefulSet: selectorChecks,
  DaemonSet: selectorChecks,
  ReplicaSet: selectorChecks,
  *Job(object, previous) {
    yield* podSpecChecks(valueAt(object, 'spec', 'template', 'spec'), 'spec.template.spec');
    if (previous !== undefined && !isEqual(valueAt(object, 'spec', 'template'), valueAt(previous, 'spec', 'template')))
      yield invalid('spec.template', null, 'field is immutable');
  },
  RoleBinding: roleRefChecks,
  ClusterRoleBinding: roleRefChecks,
};
