import type { Logger } from '@gitops-reverser/kernel-api';
import { createMetrics } from './metrics.js';

const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };
const spec = { name: 'git_pushes_total', help: 'push cycles', labels: ['branch', 'outcome'] };

describe('metrics', () => {
  it('MT-1: prefixes every metric', async () => {
    const metrics = createMetrics({ logger: quiet });

    metrics.counter(spec).add({ branch: 'main', outcome: 'pushed' }, 2);

    expect(await metrics.scrape()).toContain('gitopsreverser_git_pushes_total{branch="main",outcome="pushed"} 2');
  });

  it('MT-4: computes a gauge at scrape time from every live owner', async () => {
    const metrics = createMetrics({ logger: quiet });
    const gauge = { name: 'git_queue_depth', help: 'items', labels: ['branch'] };
    let depth = 1;
    metrics.gauge(gauge, () => [{ labels: { branch: 'a' }, value: depth }]);
    const second = metrics.gauge(gauge, () => [{ labels: { branch: 'b' }, value: 7 }]);

    depth = 3;
    const both = await metrics.scrape();
    second[Symbol.dispose]();
    const one = await metrics.scrape();

    expect(both).toContain('git_queue_depth{branch="a"} 3');
    expect(both).toContain('git_queue_depth{branch="b"} 7');
    expect(one).not.toContain('branch="b"');
  });

  it('MT-3: drops the series of a configuration object that is gone', async () => {
    const metrics = createMetrics({ logger: quiet });
    const counter = metrics.counter(spec);
    counter.add({ branch: 'a', outcome: 'pushed' });
    counter.add({ branch: 'b', outcome: 'pushed' });

    metrics.forget({ branch: 'a' });

    const text = await metrics.scrape();
    expect(text).not.toContain('branch="a"');
    expect(text).toContain('branch="b"');
  });

  it('MT-5: sends samples above the series limit to one overflow series', async () => {
    const metrics = createMetrics({ logger: quiet, maxSeries: 2 });
    const counter = metrics.counter(spec);

    for (const branch of ['a', 'b', 'c', 'd']) counter.add({ branch, outcome: 'pushed' });

    const text = await metrics.scrape();
    expect(text).toContain('gitopsreverser_git_pushes_total{overflow="true"} 2');
    expect(text).not.toContain('branch="c"');
  });
});
