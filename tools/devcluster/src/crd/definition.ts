import {
  type Json,
  type JsonObject,
  type KubeObject,
  type MutableJson,
  isEqual,
  isObject,
  pathOf,
  textOf,
  valueAt,
  fillable,
} from '../object.js';
import { apiVersionOf, invalid, required, type ResourceType, storedVerbs } from '../resources/resource-type.js';
import { crdObjectShape } from '../resources/builtin-types.js';
import { metadataShape } from '../schema/builtin.js';
import { decodeObject } from '../schema/decode.js';
import type { StatusCause } from '../status.js';
import { columnsOf } from '../table/builtin-columns.js';
import { compileRule } from './cel.js';
import { customColumns } from './custom-columns.js';
import type { JsonSchema } from './json-schema.js';
import { pruneAndDefault } from './pruning.js';
import { undefinedFieldIn } from './rule-check.js';
import { validateRules } from './rules.js';
import { blockingReasons, validateSchema } from './schema-validation.js';
import { customObjectShape } from './schema-shape.js';

/** The resource `customresourcedefinitions` itself. */
export function definitionType(): ResourceType {
  const shape = crdObjectShape();
  return {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    singular: 'customresourcedefinition',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    namespaced: false,
    verbs: storedVerbs,
    storage: 'apiextensions.k8s.io/customresourcedefinitions',
    shape,
    hasStatus: true,
    hasGeneration: true,
    nameRule: 'subdomain',
    selectableFields: new Set(),
    columns: columnsOf('CustomResourceDefinition'),
    read: (body, unknowns) =>
      withDefaults(
        decodeObject(body, shape, { kind: 'CustomResourceDefinition', version: 'apiextensions.k8s.io/v1' }, unknowns),
      ),
    validate: (object, previous) => [...definitionProblems(object, previous)],
  };
}

function withDefaults(object: JsonObject): JsonObject {
  const spec = object['spec'];
  if (!isObject(spec) || !isObject(spec['names'])) return object;
  const names: MutableJson = { ...spec['names'] };
  const kind = textOf(names['kind']);
  if (names['singular'] === undefined && kind !== '') names['singular'] = kind.toLowerCase();
  if (names['listKind'] === undefined && kind !== '') names['listKind'] = `${kind}List`;
  const versions = spec['versions'];
  return {
    ...object,
    spec: {
      ...spec,
      names: names as JsonObject,
      conversion: spec['conversion'] ?? { strategy: 'None' },
      ...(Array.isArray(versions) ? { versions: versions.map(withoutZeroPriority) } : {}),
    },
  };
}

/** Zero is how the priority of a column is absent. */
function withoutZeroPriority(version: Json): Json {
  const columns = valueAt(version, 'additionalPrinterColumns');
  if (!isObject(version) || !Array.isArray(columns)) return version;
  return {
    ...version,
    additionalPrinterColumns: (columns as readonly Json[]).map((column) => {
      if (!isObject(column) || column['priority'] !== 0) return column;
      const { priority: _zero, ...rest } = column;
      return rest;
    }),
  };
}

function versionsOf(definition: JsonObject): readonly JsonObject[] {
  const versions = valueAt(definition, 'spec', 'versions');
  return Array.isArray(versions) ? (versions as readonly Json[]).filter(isObject) : [];
}

function* definitionProblems(object: KubeObject, previous: KubeObject | undefined): Iterable<StatusCause> {
  const group = textOf(valueAt(object, 'spec', 'group'));
  const plural = textOf(valueAt(object, 'spec', 'names', 'plural'));
  for (const [field, value] of [
    ['spec.group', group],
    ['spec.names.plural', plural],
    ['spec.names.kind', textOf(valueAt(object, 'spec', 'names', 'kind'))],
    ['spec.scope', textOf(valueAt(object, 'spec', 'scope'))],
  ] as const)
    if (value === '') yield required(field);
  if (object.metadata.name !== `${plural}.${group}`)
    yield invalid('metadata.name', object.metadata.name ?? '', 'must be spec.names.plural+"."+spec.group');
  const scope = valueAt(object, 'spec', 'scope');
  if (scope !== 'Namespaced' && scope !== 'Cluster')
    yield {
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(scope ?? '')}: supported values: "Cluster", "Namespaced"`,
      field: 'spec.scope',
    };
  const versions = versionsOf(object);
  if (versions.length === 0) yield required('spec.versions', 'must have exactly one version marked as storage version');
  if (versions.filter((version) => version['storage'] === true).length !== 1)
    yield invalid(
      'spec.versions',
      versions.map((version) => version['name'] ?? ''),
      'must have exactly one version marked as storage version',
    );
  if (previous !== undefined) {
    for (const path of [['scope'], ['group'], ['names', 'kind'], ['names', 'plural']])
      if (!isEqual(valueAt(object, 'spec', ...path), valueAt(previous, 'spec', ...path)))
        yield invalid(`spec.${path.join('.')}`, valueAt(object, 'spec', ...path), 'field is immutable');
  }
  for (const [index, version] of versions.entries()) {
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = valueAt(version, 'schema', 'openAPIV3Schema');
    if (!isObject(schema)) yield required(path, 'schemas are required');
    else yield* schemaProblems(schema as JsonSchema, path, true);
  }
}

/** Structural rules, and CEL that would not compile. */
function* schemaProblems(schema: JsonSchema, path: string, isRoot = false): Iterable<StatusCause> {
  if (
    schema.type === undefined &&
    schema['x-kubernetes-int-or-string'] !== true &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true
  )
    yield required(
      `${path}.type`,
      isRoot ? 'must not be empty at the root' : 'must not be empty for specified object fields',
    );
  if (isRoot && schema.type !== undefined && schema.type !== 'object')
    yield invalid(`${path}.type`, schema.type, 'must be object at the root');
  if (schema.type === 'array' && schema.items === undefined) yield required(`${path}.items`, 'must be specified');
  if (schema['x-kubernetes-list-type'] === 'map' && (schema['x-kubernetes-list-map-keys'] ?? []).length === 0)
    yield required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map');
  if (schema.pattern !== undefined) {
    try {
      new RegExp(schema.pattern.replace(/^\(\?[ims]+\)/, ''), 'u');
    } catch {
      yield invalid(`${path}.pattern`, schema.pattern, 'must be a valid regular expression');
    }
  }
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    for (const [field, source] of [
      ['rule', rule.rule],
      ['messageExpression', rule.messageExpression],
    ] as const) {
      if (source === undefined) continue;
      try {
        compileRule(source);
        const undefinedField = undefinedFieldIn(source, schema);
        if (undefinedField !== undefined) throw new Error(undefinedField);
      } catch (fault) {
        yield invalid(
          `${path}.x-kubernetes-validations[${index}].${field}`,
          source,
          `compilation failed: ERROR: ${fault instanceof Error ? (fault.message.split('\n')[0] ?? '') : String(fault)}`,
        );
      }
    }
  }
  if (schema.default !== undefined)
    for (const problem of validateSchema(schema.default, schema, `${path}.default`, undefined)) yield problem;
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    if (!(isRoot && name === 'metadata')) yield* schemaProblems(inner, `${path}.properties[${name}]`);
  if (typeof schema.additionalProperties === 'object')
    yield* schemaProblems(schema.additionalProperties, `${path}.additionalProperties`);
  if (schema.items !== undefined) yield* schemaProblems(schema.items, `${path}.items`);
}

/** What a definition says of itself before its names are accepted. */
export function initialStatus(definition: KubeObject): JsonObject {
  return { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: storedVersionsOf(definition) };
}

function storedVersionsOf(definition: KubeObject): readonly Json[] {
  return versionsOf(definition).flatMap((version) =>
    version['storage'] === true && version['name'] !== undefined ? [version['name']] : [],
  );
}

/** The status an established definition carries. */
export function establishedStatus(definition: KubeObject, now: string): JsonObject {
  const names = valueAt(definition, 'spec', 'names') ?? {};
  const previous = valueAt(definition, 'status', 'storedVersions');
  const before = Array.isArray(previous) ? (previous as readonly Json[]) : [];
  const conditions = valueAt(definition, 'status', 'conditions');
  return {
    conditions:
      Array.isArray(conditions) && conditions.length > 0
        ? conditions
        : [
            {
              lastTransitionTime: now,
              message: 'no conflicts found',
              reason: 'NoConflicts',
              status: 'True',
              type: 'NamesAccepted',
            },
            {
              lastTransitionTime: now,
              message: 'the initial names have been accepted',
              reason: 'InitialNamesAccepted',
              status: 'True',
              type: 'Established',
            },
          ],
    acceptedNames: names,
    storedVersions: [...new Set([...before, ...storedVersionsOf(definition)])],
  };
}

/** The types a definition serves. */
export function customTypes(definition: KubeObject): readonly ResourceType[] {
  const group = textOf(valueAt(definition, 'spec', 'group'));
  const names = valueAt(definition, 'spec', 'names') as JsonObject;
  const texts = (value: Json | undefined) => (Array.isArray(value) ? (value as readonly Json[]).map(textOf) : []);
  return versionsOf(definition)
    .filter((version) => version['served'] === true)
    .map((version) => {
      const schema = (valueAt(version, 'schema', 'openAPIV3Schema') ?? { type: 'object' }) as JsonSchema;
      const scale = valueAt(version, 'subresources', 'scale');
      const hasStatus = isObject(valueAt(version, 'subresources', 'status'));
      const kind = textOf(names['kind']);
      const selectable = version['selectableFields'];
      const type: ResourceType = {
        group,
        version: textOf(version['name']),
        kind,
        plural: textOf(names['plural']),
        singular: textOf(names['singular']),
        shortNames: texts(names['shortNames']),
        categories: texts(names['categories']),
        namespaced: valueAt(definition, 'spec', 'scope') === 'Namespaced',
        verbs: storedVerbs,
        storage: `${group}/${textOf(names['plural'])}`,
        shape: customObjectShape(schema),
        schema: schema as JsonObject,
        hasStatus,
        hasGeneration: true,
        ...(isObject(scale)
          ? {
              scale: {
                specReplicas: pathOf(textOf(scale['specReplicasPath'])),
                statusReplicas: pathOf(textOf(scale['statusReplicasPath'])),
                labelSelector:
                  scale['labelSelectorPath'] === undefined ? undefined : pathOf(textOf(scale['labelSelectorPath'])),
              },
            }
          : {}),
        nameRule: 'subdomain',
        selectableFields: new Set(
          Array.isArray(selectable)
            ? (selectable as JsonObject[]).map((one) => pathOf(textOf(one['jsonPath'])).join('.'))
            : [],
        ),
        columns: customColumns(
          Array.isArray(version['additionalPrinterColumns'])
            ? (version['additionalPrinterColumns'] as JsonObject[])
            : [],
        ),
        read: (body, unknowns) => readCustom(body, schema, { group, version: textOf(version['name']), kind }, unknowns),
        validate: (object, previous) => customProblems(object, previous, schema),
      };
      return type;
    });
}

/** Custom resources are sorted maps on the wire, as Go writes them. */
function readCustom(
  body: JsonObject,
  schema: JsonSchema,
  type: { readonly group: string; readonly version: string; readonly kind: string },
  unknowns: { readonly paths: string[] },
): JsonObject {
  const done = pruneAndDefault(body, schema, unknowns);
  const metadata = isObject(done['metadata']) ? done['metadata'] : {};
  const inner = { paths: [] as string[] };
  const decoded = decodeObject(metadata, metadataShape(), { kind: type.kind, version: apiVersionOf(type) }, inner);
  unknowns.paths.push(...inner.paths.map((path) => `metadata.${path}`));
  return sorted({ ...done, metadata: decoded }, true) as JsonObject;
}

function sorted(value: Json, isTop = false): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => sorted(item));
  if (!isObject(value)) return value;
  const found = fillable();
  for (const key of Object.keys(value).sort()) {
    const child = value[key];
    if (child !== undefined) found[key] = isTop && key === 'metadata' ? child : sorted(child);
  }
  return found as JsonObject;
}

function customProblems(
  object: KubeObject,
  previous: KubeObject | undefined,
  schema: JsonSchema,
): readonly StatusCause[] {
  const found = validateSchema(object, schema, '', previous);
  if (found.some((problem) => blockingReasons.has(problem.reason ?? '')))
    return [
      ...found,
      {
        reason: 'FieldValueInvalid',
        message:
          'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
        field: '<nil>',
      },
    ];
  return [...found, ...validateRules(object, schema, '', previous, true)];
}
