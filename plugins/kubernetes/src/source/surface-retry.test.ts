import { apiStub } from './api-stub.fixture.js';
import { discovery, runSource } from './discovery-stub.fixture.js';

it('a cluster that is away is looked for on the ladder, never more seldom than every 30 s, and on the first rung again once it was back', async () => {
  let isAway = true;
  const served = discovery(
    () => ({ v1: ['configmaps'] }),
    (reply) => reply.refuse(404, 'NotFound'),
  );
  await using stub = await apiStub((reply, asked) =>
    isAway ? reply.refuse(503, 'ServiceUnavailable') : served(reply, asked),
  );
  await using running = await runSource(stub.url, { locality: 'remote' });
  const looks = (): number => stub.asked.filter(({ path }) => path === '/api').length;
  const looksDuring = async (ms: number): Promise<number> => {
    const before = looks();
    await running.pass(ms);
    return looks() - before;
  };

  await running.surface(({ reach }) => reach.state === 'unreachable');
  // At 2, 7, 17, 47, 77 and 107 s.
  const early = await looksDuring(20_000);
  const late = await looksDuring(90_000);
  isAway = false;
  await running.surface(({ reach }) => reach.state === 'reachable');
  isAway = true;
  await running.surface(({ reach }) => reach.state === 'unreachable');
  const again = await looksDuring(8_000);

  expect([early, late, again]).toEqual([3, 3, 2]);
});
