import { echoOf, type ResourceType, type SourceEvent } from '@gitops-reverser/kernel-api';
import { fakeLogger } from '@gitops-reverser/kernel-testing';
import { KubeClient } from '@gitops-reverser/toolkit-kube';
import { apiStub, type Answer, type ApiStub } from './api-stub.fixture.js';
import { connectTo, realClock } from './following.fixture.js';
import { Schemas } from './schemas.js';

const gates: ResourceType = {
  group: 'mesh.example.test',
  version: 'v1',
  resource: 'gates',
  kind: 'Gate',
  namespaced: true,
};
const gate: SourceEvent = {
  kind: 'upsert',
  ref: { ...gates, name: 'a' },
  object: { apiVersion: 'mesh.example.test/v1', kind: 'Gate', metadata: { name: 'a' } },
  via: 'snapshot',
  cursor: '1' as never,
};
const described: Answer = (reply) =>
  reply.json(200, {
    components: {
      schemas: {
        gate: {
          properties: {
            routes: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['host'] },
          },
          'x-kubernetes-group-version-kind': [{ group: gates.group, version: 'v1', kind: 'Gate' }],
        },
      },
    },
  });

async function told(stub: ApiStub, type: ResourceType, times = 1): Promise<readonly unknown[]> {
  const connection = connectTo(stub.url);
  const schemas = new Schemas(new KubeClient(connection), realClock, fakeLogger(), new AbortController().signal);
  const echoes: unknown[] = [];
  try {
    for (let time = 0; time < times; time += 1) {
      const events = async function* (): AsyncGenerator<SourceEvent> {
        yield* [{ kind: 'snapshot-begin' } as const, gate];
      };
      for await (const event of schemas.describe(events(), type))
        if (event.kind === 'upsert') echoes.push(echoOf(event.object));
    }
  } finally {
    await connection.close();
  }
  return echoes;
}

it('20, 6.4: reads the document of a group version once for all its streams', async () => {
  await using stub = await apiStub(described);

  expect(await told(stub, gates, 3)).toEqual(Array(3).fill({ listKeys: { routes: ['host'] } }));
  expect(stub.asked.map(({ path }) => path)).toEqual(['/openapi/v3/apis/mesh.example.test/v1']);
});

it.each<[string, Answer]>([
  ['does not describe its types', (reply) => reply.refuse(404, 'NotFound')],
  ['does not let them be read', (reply) => reply.refuse(403, 'Forbidden')],
  ['answers nonsense', (reply) => reply.json(200, [1])],
  ['hangs up', (reply) => reply.cut()],
  ['does not answer', () => undefined],
])('a server that %s is followed all the same', async (_, answer) => {
  await using stub = await apiStub(answer);

  expect(await told(stub, gates)).toEqual([undefined]);
});

it('asks nothing about built-in types', async () => {
  await using stub = await apiStub(described);

  expect(await told(stub, { ...gates, group: 'apps' })).toEqual([undefined]);
  expect(stub.asked).toEqual([]);
});
