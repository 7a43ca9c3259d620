import { type Devcluster, type LooseObject, startDevcluster } from '../index.js';
import type { JsonObject } from '../object.js';
import { callApi, openWatchOn } from '../testing/api-client.js';
import type { JsonSchema } from './json-schema.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/example.test/v1/namespaces/default/widgets';

const spec: JsonSchema = {
  type: 'object',
  required: ['url'],
  properties: {
    url: { type: 'string', pattern: '^https://', maxLength: 30 },
    mode: { type: 'string', enum: ['Fast', 'Slow'], default: 'Fast' },
    replicas: { type: 'integer', minimum: 0, maximum: 9 },
    namespace: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 2, 'x-kubernetes-list-type': 'set' },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, port: { type: 'integer' } },
      },
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    size: { 'x-kubernetes-int-or-string': true } as JsonSchema,
  },
  'x-kubernetes-validations': [
    { rule: 'self.url == oldSelf.url', message: 'spec.url is immutable' },
    {
      rule: '!has(self.replicas) || self.replicas * 2 <= 10',
      messageExpression: "'at most %d, found %d'.format([5, self.replicas])",
    },
  ],
};
const definition = (change: (schema: JsonSchema) => JsonSchema = (schema) => schema, extra: JsonObject = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          { name: 'URL', type: 'string', jsonPath: '.spec.url' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: change({
            type: 'object',
            properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          }),
        },
        ...extra,
      },
    ],
  },
});
const widget = (fields: JsonObject, name = 'w') => ({
  apiVersion: 'example.test/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { url: 'https://x', ...fields },
});

let cluster: Devcluster;
const post = (body: unknown, query = '') => callApi(cluster, widgets + query, { method: 'POST', body });
beforeEach(async () => {
  cluster = await startDevcluster({ tls: false });
  cluster.apply(definition() as LooseObject);
});
afterEach(() => cluster.stop());

describe('custom resource definitions', () => {
  it('let their objects carry a finalizer without a slash, as Argo CD does; a built-in type does not', async () => {
    const finalizers = ['resources-finalizer.example.test'];
    const custom = widget({}, 'held');

    const made = await post({ ...custom, metadata: { ...custom.metadata, finalizers } });
    const refused = await post({ ...custom, metadata: { name: 'odd', finalizers: ['not qualified'] } });
    const builtIn = await callApi(cluster, '/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held', finalizers } },
    });

    expect([made.code, refused.code, builtIn.code]).toEqual([201, 422, 422]);
  });

  it('are established, and served, before their creator hears of it', () => {
    expect(cluster.get('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.example.test')).toMatchObject({
      spec: { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } },
      status: {
        acceptedNames: { kind: 'Widget' },
        storedVersions: ['v1'],
        conditions: [
          { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
          { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
        ],
      },
    });
  });

  it('appear in discovery with their subresources at once', async () => {
    const answer = await callApi(cluster, '/apis/example.test/v1');

    expect(
      (answer.json['resources'] as JsonObject[]).map(({ name, kind }) => `${String(name)} ${String(kind)}`),
    ).toEqual(['widgets Widget', 'widgets/scale Scale', 'widgets/status Widget']);
  });

  it('go with their objects, and their watches end', async () => {
    await post(widget({}));
    const reader = await openWatchOn(cluster, `${widgets}?watch=true`);
    await reader.take(1);

    await callApi(cluster, `${crds}/widgets.example.test`, { method: 'DELETE' });

    expect((await reader.next())?.type).toBe('DELETED');
    expect(await reader.ended()).toBe('end');
    expect((await callApi(cluster, widgets)).code).toBe(404);
  });

  it.each([
    {
      why: 'a name that is not plural.group',
      body: { ...definition(), metadata: { name: 'wrong' } },
      message: 'metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group',
    },
    {
      why: 'a property without a type',
      body: definition((schema) => ({ ...schema, properties: { spec: {} } })),
      message: 'openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
    },
    {
      why: 'a rule on a field nobody declared',
      body: definition((schema) => ({ ...schema, 'x-kubernetes-validations': [{ rule: 'self.spec.nope == 1' }] })),
      message: "compilation failed: ERROR: undefined field 'nope'",
    },
    {
      why: 'a reserved word that is not escaped',
      body: definition((schema) => ({
        ...schema,
        'x-kubernetes-validations': [{ rule: "self.spec.namespace == ''" }],
      })),
      message: "undefined field 'namespace'",
    },
    {
      why: 'a rule that does not parse',
      body: definition((schema) => ({ ...schema, 'x-kubernetes-validations': [{ rule: 'self.' }] })),
      message: 'compilation failed: ERROR',
    },
  ])('refuses $why', async ({ body, message }) => {
    cluster.delete('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.example.test');

    const answer = await callApi(cluster, crds, { method: 'POST', body });

    expect(answer.code).toBe(422);
    expect(answer.json['message']).toContain(message);
  });

  it('accepts the escaped form of a reserved word', async () => {
    cluster.apply(
      definition((schema) => ({
        ...schema,
        'x-kubernetes-validations': [
          { rule: "!has(self.spec.__namespace__) || self.spec.__namespace__ != 'x'", message: 'not x' },
        ],
      })) as LooseObject,
    );

    expect((await post(widget({ namespace: 'x' }))).json['message']).toContain('not x');
    expect((await post(widget({ namespace: 'y' }))).code).toBe(201);
  });
});

describe('custom resources', () => {
  it('are pruned, defaulted and sorted', async () => {
    const answer = await post(widget({ unknown: 1, free: { any: { thing: [1] } }, size: '50%' }));

    expect(answer.json['spec']).toEqual({ url: 'https://x', mode: 'Fast', free: { any: { thing: [1] } }, size: '50%' });
    expect(Object.keys(answer.json['spec'] as JsonObject)).toEqual(['free', 'mode', 'size', 'url']);
    expect(answer.headers['warning']).toContain('unknown field');
    expect((await post(widget({ unknown: 1 }, 's'), '?fieldValidation=Strict')).json['message']).toBe(
      'Widget in version "example.test/v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.unknown"',
    );
  });

  it.each([
    { why: 'a missing field', fields: { url: undefined as never }, message: 'spec.url: Required value' },
    {
      why: 'a wrong type',
      fields: { replicas: 'x' },
      message: 'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    },
    {
      why: 'a value outside of its enum',
      fields: { mode: 'Odd' },
      message: 'spec.mode: Unsupported value: "Odd": supported values: "Fast", "Slow"',
    },
    {
      why: 'a pattern',
      fields: { url: 'ftp://x' },
      message: 'spec.url: Invalid value: "ftp://x": spec.url in body should match \'^https://\'',
    },
    {
      why: 'a length',
      fields: { url: `https://${'x'.repeat(30)}` },
      message: 'spec.url: Too long: may not be more than 30 bytes',
    },
    {
      why: 'a minimum',
      fields: { replicas: -1 },
      message: 'spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0',
    },
    {
      why: 'too many items',
      fields: { tags: ['a', 'b', 'c'] },
      message: 'spec.tags: Too many: 3: must have at most 2 items',
    },
    { why: 'a repeated item of a set', fields: { tags: ['a', 'a'] }, message: 'spec.tags[1]: Duplicate value: "a"' },
    {
      why: 'a repeated key',
      fields: { ports: [{ name: 'a' }, { name: 'a' }] },
      message: 'spec.ports[1]: Duplicate value: {"name":"a"}',
    },
    {
      why: 'a rule, with its computed message',
      fields: { replicas: 6 },
      message: 'spec: Invalid value: at most 5, found 6',
    },
  ])('are refused for $why', async ({ fields, message }) => {
    const answer = await post(widget(fields));

    expect(answer.code).toBe(422);
    expect(answer.json['message']).toContain(message);
  });

  it('rules are not evaluated on an object of the wrong shape, and the answer says so', async () => {
    const answer = await post(widget({ mode: 'Odd', replicas: 6 }));

    expect(answer.json['message']).toContain(
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    );
    expect(answer.json['message']).not.toContain('at most 5');
  });

  it('a rule with oldSelf is checked on updates only', async () => {
    await post(widget({}));

    const answer = await callApi(cluster, `${widgets}/w`, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { spec: { url: 'https://y' } },
    });

    expect(answer.json['message']).toBe(
      'Widget.example.test "w" is invalid: spec: Invalid value: spec.url is immutable',
    );
  });

  it('what was stored before a rule got stricter is tolerated until it changes', async () => {
    await post(widget({ replicas: 4 }));
    cluster.apply(
      definition((schema) => ({
        ...schema,
        properties: {
          ...schema.properties,
          spec: { ...spec, properties: { ...spec.properties, replicas: { type: 'integer', maximum: 3 } } },
        },
      })) as LooseObject,
    );

    const other = await callApi(cluster, `${widgets}/w`, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { spec: { mode: 'Slow' } },
    });
    const same = await callApi(cluster, `${widgets}/w`, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { spec: { replicas: 5 } },
    });

    expect(other.code).toBe(200);
    expect(same.code).toBe(422);
  });

  it('status goes through its own door', async () => {
    const created = await post({ ...widget({}), status: { replicas: 9 } });
    const path = `${widgets}/w`;

    const status = await callApi(cluster, `${path}/status`, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { spec: { mode: 'Slow' }, status: { replicas: 2 } },
    });

    expect(created.json['status']).toBeUndefined();
    expect(status.json).toMatchObject({ metadata: { generation: 1 }, spec: { mode: 'Fast' }, status: { replicas: 2 } });
    expect((await callApi(cluster, `${path}/scale`)).json).toMatchObject({ kind: 'Scale', status: { replicas: 2 } });
  });

  it('need a version for an update and take no strategic patch', async () => {
    await post(widget({}));

    const put = await callApi(cluster, `${widgets}/w`, { method: 'PUT', body: widget({}) });
    const strategic = await callApi(cluster, `${widgets}/w`, {
      method: 'PATCH',
      type: 'application/strategic-merge-patch+json',
      body: {},
    });

    expect(put.json['message']).toContain(
      'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
    expect(strategic.code).toBe(415);
  });

  it('are printed by their own columns', async () => {
    await post(widget({}));
    await callApi(cluster, `${widgets}/w/status`, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: {
        status: {
          conditions: [
            { type: 'Other', status: 'False' },
            { type: 'Ready', status: 'True' },
          ],
        },
      },
    });

    const answer = await callApi(cluster, widgets, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });

    expect((answer.json['columnDefinitions'] as JsonObject[]).map(({ name }) => name)).toEqual([
      'Name',
      'URL',
      'Ready',
      'Age',
    ]);
    expect(answer.json['rows']).toEqual([
      expect.objectContaining({ cells: ['w', 'https://x', 'True', expect.stringMatching(/^\d+s$/)] }),
    ]);
  });

  it('are owned item by item where the schema names keys', async () => {
    cluster.apply(
      { ...widget({ ports: [{ name: 'a', port: 1 }] }), metadata: { name: 'w', namespace: 'default' } } as LooseObject,
      { manager: 'one' },
    );
    cluster.apply(
      {
        apiVersion: 'example.test/v1',
        kind: 'Widget',
        metadata: { name: 'w', namespace: 'default' },
        spec: { ports: [{ name: 'b', port: 2 }] },
      } as LooseObject,
      { manager: 'two' },
    );

    const found = cluster.get('example.test/v1', 'Widget', 'w', 'default') as JsonObject;

    expect((found['spec'] as JsonObject)['ports']).toEqual([
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ]);
    expect((found['metadata'] as JsonObject)['managedFields']).toEqual([
      expect.objectContaining({ manager: 'one' }),
      expect.objectContaining({
        manager: 'two',
        fieldsV1: { 'f:spec': { 'f:ports': { 'k:{"name":"b"}': { '.': {}, 'f:name': {}, 'f:port': {} } } } },
      }),
    ]);
  });
});
