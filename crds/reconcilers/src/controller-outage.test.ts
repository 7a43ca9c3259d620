import { KubeClient, type KubeConnection } from '@gitops-reverser/toolkit-kube';
import { openWorld, type World } from './testing/world.fixture.js';

/** Lets the API server of a world be away for status writes. */
function outagesOf(world: World) {
  let isAway = false;
  const refused = JSON.stringify({ kind: 'Status', code: 503, reason: 'ServiceUnavailable', message: 'starting' });
  const connection: KubeConnection = {
    ...world.cluster.connection,
    request: async (request, signal) =>
      isAway && request.method === 'PATCH'
        ? { status: 503, headers: {}, body: Buffer.from(refused) }
        : await world.cluster.connection.request(request, signal),
  };
  world.options = { client: new KubeClient(connection) };
  return {
    /** @returns how often a failure of the provider was logged since the last call */
    told: (): number => {
      const found = world.logger
        .said('reconcile failed')
        .filter(({ level, fields }) => level === 'warn' && fields['key'] === 'shop/home');
      world.logger.clear();
      return found.length;
    },
    turn: (away: boolean): void => void (isAway = away),
  };
}

it('an outage of the API server is told once for each object, however often it is asked for meanwhile, and the next one again', async () => {
  await using world = openWorld();
  const { told, turn } = outagesOf(world);
  await world.start();

  const outage = async (token: string): Promise<number> => {
    turn(true);
    for (const round of [1, 2, 3]) {
      world.annotate('GitProvider', `${token}-${round}`);
      await world.clock.advance(100);
    }
    await world.clock.advance(10_000);
    turn(false);
    await world.clock.advance(60_000);
    return told();
  };
  const first = await outage('a');
  const handled = world.status('GitProvider')['lastHandledReconcileAt'];
  const second = await outage('b');

  expect([first, handled, second]).toEqual([1, 'a-3', 1]);
});
