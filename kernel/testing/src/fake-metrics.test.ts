import { fakeMetrics } from './fake-metrics.js';

const commits = { name: 'commits_total', help: 'Commits made.', labels: ['branch'] };

describe('fakeMetrics', () => {
  it('adds up counters by label values', () => {
    const metrics = fakeMetrics();
    const counter = metrics.counter(commits);

    counter.add({ branch: 'main' });
    counter.add({ branch: 'main' }, 2);
    counter.add({ branch: 'other' });

    expect(metrics.samples('commits_total')).toEqual([
      { labels: { branch: 'main' }, value: 3 },
      { labels: { branch: 'other' }, value: 1 },
    ]);
  });

  it('collects a gauge when looked at, and no more once it is disposed', () => {
    const metrics = fakeMetrics();
    let depth = 1;
    const gauge = metrics.gauge({ name: 'queue_depth', help: 'Depth.', labels: [] }, () => [
      { labels: {}, value: depth },
    ]);

    depth = 7;
    const whileOpen = metrics.value('queue_depth');
    gauge[Symbol.dispose]();

    expect([whileOpen, metrics.samples('queue_depth')]).toEqual([7, []]);
  });

  it('forgets every series of a deleted object', () => {
    const metrics = fakeMetrics();
    const counter = metrics.counter(commits);
    counter.add({ branch: 'main' });
    counter.add({ branch: 'gone' });

    metrics.forget({ branch: 'gone' });

    expect(metrics.samples('commits_total')).toEqual([{ labels: { branch: 'main' }, value: 1 }]);
  });

  it('refuses labels that were not declared, and one name declared in two ways', () => {
    const metrics = fakeMetrics();
    const counter = metrics.counter(commits);

    expect(() => counter.add({ user: 'alice' })).toThrow('expected labels branch, found user');
    expect(() => metrics.counter({ ...commits, labels: [] })).toThrow('declared twice');
  });
});
