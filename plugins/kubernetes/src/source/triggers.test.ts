import { added, apiStub, modified, type Answer, type Reply } from './api-stub.fixture.js';
import { discovery, runSource, verdicts, watchesOf } from './discovery-stub.fixture.js';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const withCrds = { v1: ['configmaps'], 'apiextensions.k8s.io/v1': ['customresourcedefinitions'] };
const quiet: Answer = (reply, { verb }) => (verb === 'watch' ? void reply.say() : reply.list([], '20'));
const scans = (stub: { readonly asked: readonly { readonly path: string }[] }): number =>
  stub.asked.filter(({ path }) => path === '/apis').length;

describe('changes of definitions ask for a scan', () => {
  it('on our own cluster, within moments: a definition that was created shows its type', async () => {
    let served: Record<string, readonly string[]> = withCrds;
    let watch: Reply | undefined;
    await using stub = await apiStub(
      discovery(
        () => served,
        (reply, { verb }) => (verb === 'watch' ? void (watch = reply.say()) : reply.list([], '20')),
      ),
    );
    await using running = await runSource(stub.url);
    await running.surface(({ reach }) => reach.state === 'reachable');
    await running.eventually(() => watch !== undefined);
    await running.pass(20_000);

    served = { ...withCrds, 'example.test/v1': ['widgets'] };
    const at = running.clock.now().getTime();
    watch?.say(added('widgets.example.test', '21'));
    const surface = await running.surface(({ types }) => types.some(({ type }) => type.resource === 'widgets'), 'slow');

    expect(running.clock.now().getTime() - at).toBeLessThanOrEqual(2_000);
    expect(verdicts(surface)).toContain('example.test/widgets followable');
    expect(stub.asked.filter(({ path }) => path === CRDS).map(({ query }) => query)).toEqual([
      { limit: '1' },
      { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '20', timeoutSeconds: '300' },
    ]);
  });

  it('that is served only a moment later is found by a second look', async () => {
    let served: Record<string, readonly string[]> = withCrds;
    let watch: Reply | undefined;
    await using stub = await apiStub(
      discovery(
        () => served,
        (reply, { verb }) => (verb === 'watch' ? void (watch = reply.say()) : reply.list([], '20')),
      ),
    );
    await using running = await runSource(stub.url);
    await running.eventually(() => watch !== undefined);
    await running.pass(20_000);
    const before = scans(stub);
    const at = running.clock.now().getTime();
    watch?.say(added('widgets.example.test', '21'));
    await running.eventually(() => scans(stub) > before, 'slow');

    served = { ...withCrds, 'example.test/v1': ['widgets'] };
    await running.surface(({ types }) => types.some(({ type }) => type.resource === 'widgets'), 'slow');

    expect(running.clock.now().getTime() - at).toBeLessThan(5_000);
  });

  it('a burst of them is one scan, and a second look', async () => {
    let watch: Reply | undefined;
    await using stub = await apiStub(
      discovery(
        () => withCrds,
        (reply, { verb }) => (verb === 'watch' ? void (watch = reply.say()) : reply.list([], '20')),
      ),
    );
    await using running = await runSource(stub.url);
    await running.eventually(() => watch !== undefined);
    // Somewhere between two scans by timer.
    await running.pass(10_000);
    const before = scans(stub);

    watch?.say(...Array.from({ length: 50 }, (_, at) => modified(`d${at}`, String(30 + at))));
    await running.pass(6_000);

    expect(scans(stub) - before).toBeLessThanOrEqual(3);
    expect(scans(stub) - before).toBeGreaterThanOrEqual(2);
  });

  it('DC-5: other clusters are not watched for them', async () => {
    await using stub = await apiStub(discovery(() => withCrds, quiet));
    await using running = await runSource(stub.url, { locality: 'remote' });

    await running.surface(({ reach }) => reach.state === 'reachable');
    await running.pass(100_000);

    expect(stub.asked.filter(({ path }) => path === CRDS)).toEqual([]);
    expect(scans(stub)).toBeGreaterThanOrEqual(4);
  });

  it('DC-4: 403 is said once; every scan looks again, and when it is granted it is used', async () => {
    let isGranted = false;
    await using stub = await apiStub(
      discovery(
        () => withCrds,
        (reply, asked) => (isGranted ? quiet(reply, asked) : reply.refuse(403, 'Forbidden')),
      ),
    );
    await using running = await runSource(stub.url);
    const looks = (): number => stub.asked.filter(({ path }) => path === CRDS).length;
    await running.eventually(() => looks() >= 4);
    const at = [scans(stub), looks()];

    isGranted = true;
    await running.eventually(() => watchesOf(stub.asked).length === 1);

    // One look for each scan: no loop of its own.
    expect((at[0] ?? 0) - (at[1] ?? 0)).toBeLessThanOrEqual(1);
    expect(
      running.logger.said('the credential may not list and watch these definitions; discovery is scanned by timer'),
    ).toHaveLength(1);
  });

  it('FC-KCP-3: without API registration there is one line; when it appears later it is used without a restart', async () => {
    let served: Record<string, readonly string[]> = withCrds;
    await using stub = await apiStub(discovery(() => served, quiet));
    await using running = await runSource(stub.url);
    await running.eventually(() => watchesOf(stub.asked).length === 1);
    await running.pass(120_000);

    served = { ...withCrds, 'apiregistration.k8s.io/v1': ['apiservices'] };
    await running.eventually(() => watchesOf(stub.asked).includes(API_SERVICES));

    expect(
      running.logger.said('the cluster does not serve these definitions; discovery is scanned by timer'),
    ).toMatchObject([{ fields: { resource: 'apiservices' } }]);
    expect(watchesOf(stub.asked)).toEqual([CRDS, API_SERVICES]);
  });

  it('a trigger whose type went is stopped, one whose group could not be scanned goes on', async () => {
    let served: Record<string, readonly string[]> = withCrds;
    await using stub = await apiStub(discovery(() => served, quiet));
    await using running = await runSource(stub.url);
    await running.eventually(() => stub.open === 1);

    served = { v1: ['configmaps'] };
    await running.eventually(() => stub.open === 0);

    served = withCrds;
    await running.eventually(() => stub.open === 1);
    expect(watchesOf(stub.asked)).toEqual([CRDS, CRDS]);
  });

  it('a watch of definitions that ends at once is not opened in a loop', async () => {
    await using stub = await apiStub(
      discovery(
        () => withCrds,
        (reply, { verb }) => (verb === 'watch' ? reply.say().end() : reply.list([], '20')),
      ),
    );
    await using running = await runSource(stub.url);
    await running.pass(60_000);

    // At 0, 2, 7, 17 and 47 s.
    expect(watchesOf(stub.asked).length).toBeLessThanOrEqual(5);
  });
});
