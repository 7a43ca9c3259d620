import { createRequire } from 'node:module';

it('undici is version 7, for us and under client-node: version 8 does not load on Node 20', () => {
  const ours = createRequire(import.meta.url);
  const theirs = createRequire(ours.resolve('@kubernetes/client-node'));
  const versions = [ours, theirs].map((from) => (from('undici/package.json') as { version: string }).version);

  expect(versions).toEqual([expect.stringMatching(/^7\./), expect.stringMatching(/^7\./)]);
});
