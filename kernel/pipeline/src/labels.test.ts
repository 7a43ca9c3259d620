import { aConfigMap } from '@gitops-reverser/kernel-testing';
import { openRig } from './rig.fixture.js';

it('FC-OPS-6, MT-2: however many objects and users there are, no label names one and the series stay few', async () => {
  const rig = await openRig({ isAttributed: true });
  const count = 200;

  for (let index = 0; index < count; index += 1)
    rig.write(aConfigMap(`object-${index}`), { username: `person-${index}@example.test` });
  for (let turn = 0; turn < 50 && rig.commits().length < count; turn += 1) await rig.clock.advance(10_000);

  const series = rig.metrics
    .names()
    .flatMap((name) => rig.metrics.samples(name).map(({ labels }) => `${name} ${JSON.stringify(labels)}`));
  expect(rig.commits()).toHaveLength(count);
  expect(series.length).toBeGreaterThan(10);
  expect(series.length).toBeLessThan(200);
  expect(series.filter((text) => /object-|person-|\.jsonl|https?:/.test(text))).toEqual([]);
  await rig.runtime.close(0);
}, 60_000);
