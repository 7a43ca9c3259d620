import type { JsonObject, KubeObject } from '@gitops-reverser/kernel-api';
import { fakeClock } from '@gitops-reverser/kernel-testing';
import fc from 'fast-check';
import { KubeClient } from './requests.js';
import { StatusPatcher, toMergePatch } from './status-patcher.js';
import { connectTo, json, never, statusBody, stubServer, type Answerer } from './testing/stub-server.js';

const path = { group: 'reverser.example.test', version: 'v1', resource: 'gittargets', namespace: 'shop', name: 'web' };
const object = (resourceVersion: string, status: JsonObject): KubeObject =>
  ({
    apiVersion: 'reverser.example.test/v1',
    kind: 'GitTarget',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion },
    status,
  }) as unknown as KubeObject;
const ready = (status: string): JsonObject => ({
  observedGeneration: 1,
  conditions: [{ type: 'Ready', status, reason: 'X', message: '' }],
});
const accept: Answerer = (_, response) => json(response, 200, object('8', ready('True')));

async function withPatcher<T>(
  answer: Answerer,
  use: (
    patcher: StatusPatcher,
    seen: readonly { readonly body: string; readonly url: string }[],
    clock: ReturnType<typeof fakeClock>,
  ) => Promise<T>,
): Promise<T> {
  const clock = fakeClock();
  await using server = await stubServer(answer);
  await using connection = connectTo(server.url, { clock });
  return await use(new StatusPatcher(new KubeClient(connection), 'gitops-reverser'), server.seen, clock);
}

it('ST-4: writes a merge patch on status with the version it was computed from', async () => {
  await withPatcher(accept, async (patcher, seen) => {
    const outcome = await patcher.patch(
      path,
      object('7', { old: { a: 1 }, ...ready('Unknown') }),
      ready('True'),
      never,
    );

    expect(outcome).toMatchObject({ kind: 'written', object: { metadata: { resourceVersion: '8' } } });
    expect(seen).toMatchObject([
      {
        method: 'PATCH',
        url: '/apis/reverser.example.test/v1/namespaces/shop/gittargets/web/status?fieldManager=gitops-reverser',
      },
    ]);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      metadata: { resourceVersion: '7' },
      status: { old: null, conditions: ready('True')['conditions'] },
    });
  });
});

it('FC-OPS-5: an unchanged status is not written, however its keys are ordered', async () => {
  await withPatcher(accept, async (patcher, seen) => {
    const before = object('7', {
      conditions: [{ message: '', reason: 'X', status: 'True', type: 'Ready' }],
      observedGeneration: 1,
    });

    expect(await patcher.patch(path, before, ready('True'), never)).toEqual({ kind: 'unchanged' });
    expect(seen).toEqual([]);
  });
});

it.each([
  { code: 409, reason: 'Conflict', kind: 'conflict' },
  { code: 404, reason: 'NotFound', kind: 'gone' },
])('ST-4: a $code is dropped, not retried', async ({ code, reason, kind }) => {
  await withPatcher(
    (_, response) => json(response, code, statusBody(code, reason, 'moved on')),
    async (patcher, seen) => {
      expect(await patcher.patch(path, object('7', {}), ready('True'), never)).toEqual({ kind });
      expect(seen).toHaveLength(1);
    },
  );
});

it("any other refusal is the caller's to see", async () => {
  await withPatcher(
    (_, response) => json(response, 403, statusBody(403, 'Forbidden', 'no')),
    async (patcher) => {
      await expect(patcher.patch(path, object('7', {}), ready('True'), never)).rejects.toMatchObject({
        reason: 'Forbidden',
      });
    },
  );
});

it('a second patch computed from the same version is not sent', async () => {
  await withPatcher(accept, async (patcher, seen) => {
    await patcher.patch(path, object('7', {}), ready('True'), never);

    expect(await patcher.patch(path, object('7', {}), ready('False'), never)).toEqual({ kind: 'conflict' });
    expect(seen).toHaveLength(1);
  });
});

it('FC-OPS-5: at most one write per object and second', async () => {
  await withPatcher(accept, async (patcher, seen, clock) => {
    await patcher.patch(path, object('7', {}), ready('True'), never);

    const second = patcher.patch(path, object('8', ready('True')), ready('False'), never);
    await clock.advance(999);
    const early = seen.length;
    await clock.advance(1);
    await second;

    expect([early, seen.length]).toEqual([1, 2]);
  });
});

it('a merge patch turns any status into any other', () => {
  const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
  const key = fc.constantFrom('a', 'b', 'c');
  const status = fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf)))));
  const apply = (target: unknown, patch: JsonObject): JsonObject => {
    const result: Record<string, unknown> =
      typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
    for (const [name, value] of Object.entries(patch)) {
      if (value === null) delete result[name];
      else
        result[name] =
          typeof value === 'object' && !Array.isArray(value) ? apply(result[name], value as JsonObject) : value;
    }
    return result as JsonObject;
  };

  fc.assert(
    fc.property(
      status,
      status,
      (before, after) =>
        void expect(apply(before, toMergePatch(before as JsonObject, after as JsonObject))).toEqual({ ...after }),
    ),
  );
});
