import { createServer, type Server } from 'node:net';
import { leakGuard, withoutLeaks } from './leak-guard.js';

describe('leakGuard', () => {
  it('passes when everything was closed', async () => {
    await withoutLeaks(async () => {
      clearTimeout(setTimeout(() => undefined, 60_000));
      const server = await listening();
      await new Promise((resolve) => server.close(resolve));
    });
  });

  it('names a timer left behind and where it was set, also one that keeps nothing alive', async () => {
    const guard = leakGuard();
    const timer = setInterval(() => undefined, 60_000).unref();

    const check = guard.check(0);

    await expect(check).rejects.toThrow(/timer opened .*leak-guard\.test/);
    clearInterval(timer);
  });

  it('names a socket left behind', async () => {
    const guard = leakGuard();
    const server = await listening();

    await expect(guard.check(0)).rejects.toThrow('listening socket');
    await new Promise((resolve) => server.close(resolve));
  });

  it('is patient with what is just closing', async () => {
    await withoutLeaks(() => {
      setTimeout(() => undefined, 50);
      return Promise.resolve();
    });
  });
});

function listening(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
  });
}
