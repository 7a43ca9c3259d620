import { aConfigMap, configMaps, widgets, aWidget, aSecret, secrets } from '@gitops-reverser/kernel-testing';
import { refOf } from '@gitops-reverser/kernel-api';
import { chokingSanitizer, pickyLayout } from './picky.fixture.js';
import { aCollection, openRig, someSettings, TARGET, type Rig } from './rig.fixture.js';

const doc = (name: string, namespace = 'demo'): string => `app/${namespace}/configmap-${name}.jsonl`;
const stored = (name: string, namespace = 'demo', value = 'old'): string =>
  `{"apiVersion":"v1","data":{"value":"${value}"},"kind":"ConfigMap","metadata":{"name":"${name}","namespace":"${namespace}"}}\n`;
const paths = (rig: Rig): readonly string[] =>
  Object.keys(rig.remote.files('main'))
    .filter((path) => path.startsWith('app/'))
    .sort();

describe('mark and sweep', () => {
  const files = {
    'README.md': '',
    [doc('live')]: stored('live'),
    [doc('orphan')]: stored('orphan'),
    [doc('other', 'elsewhere')]: stored('other', 'elsewhere'),
  };

  it.each([
    { prune: 'Never', left: [doc('live'), doc('orphan'), doc('other', 'elsewhere')], retained: 2 },
    { prune: 'OnEvent', left: [doc('live'), doc('orphan'), doc('other', 'elsewhere')], retained: 2 },
    { prune: 'Always', left: [doc('live')], retained: 0 },
  ] as const)('WP-30, WP-33, WP-35: prune $prune over all namespaces', async ({ prune, left, retained }) => {
    const rig = await openRig({ remote: { files }, settings: { prune }, objects: [aConfigMap('live')] });

    await rig.clock.advance(10_000);

    expect(paths(rig)).toEqual([...left].sort());
    expect(rig.targetHandle.status().retention).toMatchObject({ mode: prune, retainedDocuments: retained });
    await rig.runtime.close(0);
  });

  it('WP-33, WP-34: under one namespace only that namespace is swept', async () => {
    const rig = await openRig({
      remote: { files },
      settings: { prune: 'Always' },
      objects: [aConfigMap('live')],
      collections: [aCollection(configMaps, 'demo')],
    });

    await rig.clock.advance(10_000);

    expect(paths(rig)).toEqual([doc('live'), doc('other', 'elsewhere')].sort());
    await rig.runtime.close(0);
  });

  it('another type is nobody’s orphan', async () => {
    const widget = '{"apiVersion":"example.test/v1","kind":"Widget","metadata":{"name":"w","namespace":"demo"}}\n';
    const rig = await openRig({
      remote: { files: { 'app/demo/widget-w.jsonl': widget, 'app/x.jsonl': stored('gone') } },
      settings: { prune: 'Always' },
    });

    await rig.clock.advance(10_000);

    expect(paths(rig)).toEqual(['app/demo/widget-w.jsonl']);
    await rig.runtime.close(0);
  });

  it.each([
    { prune: 'Never', isKept: true, retained: 1 },
    { prune: 'OnEvent', isKept: false, retained: 0 },
    { prune: 'Always', isKept: false, retained: 0 },
  ] as const)('an observed delete under $prune', async ({ prune, isKept, retained }) => {
    const rig = await openRig({ settings: { prune }, objects: [aConfigMap('one')] });
    await rig.clock.advance(10_000);

    rig.cluster.remove(configMaps, 'one');
    await rig.clock.advance(20_000);

    expect(paths(rig)).toEqual(isKept ? [doc('one')] : []);
    expect(rig.targetHandle.status().retention?.retainedDocuments).toBe(retained);
    await rig.runtime.close(0);
  });

  it('widening to Always lists again and sweeps; nothing else restarts a stream', async () => {
    const rig = await openRig({ remote: { files }, objects: [aConfigMap('live')] });
    await rig.clock.advance(10_000);
    const replays = (): number =>
      rig.metrics.samples('watch_recovery_total').reduce((sum, { value }) => sum + value, 0);
    const before = replays();

    rig.targetHandle.configure(someSettings({ prune: 'Never' }));
    await rig.clock.advance(10_000);
    const narrowed = replays();
    rig.targetHandle.configure(someSettings({ prune: 'Always' }));
    await rig.clock.advance(10_000);

    expect([narrowed - before, replays() - before]).toEqual([0, 1]);
    expect(paths(rig)).toEqual([doc('live')]);
    await rig.runtime.close(0);
  });

  it('WP-36: a snapshot names the committer, also where attribution is on', async () => {
    const rig = await openRig({ isAttributed: true, objects: [aConfigMap('one')] });

    await rig.clock.advance(10_000);

    expect(rig.commits()).toEqual([{ author: 'GitOps Reverser', subject: 'chore: reconcile 1 configmaps' }]);
    await rig.runtime.close(0);
  });

  it('says nothing new when nothing differs: no commit, and the remote was asked once', async () => {
    const rig = await openRig({
      remote: { files: { [doc('one')]: stored('one', 'demo', 'same') } },
      objects: [aConfigMap({ name: 'one', data: { value: 'same' } })],
    });

    await rig.clock.advance(10_000);

    expect(rig.commits()).toEqual([]);
    expect(rig.remote.operations).toEqual(['observe']);
    expect(rig.targetHandle.status().lastCommit).toBe(rig.remote.tip('main'));
    await rig.runtime.close(0);
  });
});

describe('20, 1.3: the unit of refusal', () => {
  it('a snapshot leaves the refused object out and writes the rest', async () => {
    const picky = pickyLayout();
    const rig = await openRig({
      layouts: [picky.plugin],
      objects: [aConfigMap('one'), aConfigMap({ name: 'bad', data: { refuse: 'yes' } }), aConfigMap('two')],
    });

    await rig.clock.advance(10_000);

    expect(paths(rig)).toEqual([doc('one'), doc('two')]);
    expect(rig.targetHandle.status()).toMatchObject({
      folder: { state: 'Accepted' },
      refused: [{ code: 'unplaceable-edit', ref: { name: 'bad' } }],
    });
    await rig.runtime.close(0);
  });

  it('a live window is refused as a whole; the snapshot it asks for repairs the rest', async () => {
    const picky = pickyLayout();
    const rig = await openRig({ layouts: [picky.plugin] });

    rig.write(aConfigMap('good'));
    rig.write(aConfigMap({ name: 'bad', data: { refuse: 'yes' } }));
    await rig.clock.advance(5_500);
    const refused = [paths(rig), rig.targetHandle.status().refused.map(({ ref }) => ref?.name)];
    await rig.clock.advance(20_000);

    expect(refused).toEqual([[], ['bad']]);
    expect(paths(rig)).toEqual([doc('good')]);
    expect(rig.commits()).toEqual([{ author: 'GitOps Reverser', subject: 'chore: reconcile 1 configmaps' }]);
    expect(
      rig.metrics.value('write_refusals_total', {
        gittarget_namespace: 'demo',
        gittarget_name: 'app',
        group: '',
        version: 'v1',
        resource: 'configmaps',
        kind: 'unplaceable-edit',
      }),
    ).toBe(2);
    await rig.runtime.close(0);
  });

  it('a refusal stands until a snapshot of its collection is accepted without it', async () => {
    const picky = pickyLayout();
    const rig = await openRig({
      layouts: [picky.plugin],
      objects: [aConfigMap({ name: 'bad', data: { refuse: 'yes' } })],
    });
    await rig.clock.advance(10_000);

    rig.write(aConfigMap({ name: 'bad', data: { fine: 'now' } }));
    await rig.clock.advance(10_000);
    const afterLuckyWrite = rig.targetHandle.status().refused.length;
    rig.targetHandle.resync('please');
    await rig.clock.advance(10_000);

    expect([afterLuckyWrite, rig.targetHandle.status().refused.length]).toEqual([1, 0]);
    expect(rig.targetHandle.status().resyncedToken).toBe('please');
    await rig.runtime.close(0);
  });

  it.each([
    ['../outside.jsonl'],
    ['/etc/passwd.jsonl'],
    ['a/../../b.jsonl'],
    ['.git/config.jsonl'],
    ['a//b.jsonl'],
    ['link/x.jsonl'],
    ['file/x.jsonl'],
  ])('I2: a plan for %s is refused whatever the layout says', async (escape) => {
    const picky = pickyLayout();
    const remote = {
      files: { 'app/link': { content: '..', mode: 'symlink' as const }, 'app/file': 'a file', 'app/x.jsonl': '' },
    };
    const rig = await openRig({
      layouts: [picky.plugin],
      remote,
      objects: [aConfigMap({ name: 'bad', data: { escape } }), aConfigMap('good')],
    });

    await rig.clock.advance(10_000);

    expect(rig.targetHandle.status().refused).toMatchObject([{ code: 'write-escapes-scope', ref: { name: 'bad' } }]);
    expect(paths(rig)).toEqual(['app/link', 'app/file', 'app/x.jsonl', doc('good')].sort());
    await rig.runtime.close(0);
  });

  it('a folder reached through a symlink is never written through', async () => {
    const rig = await openRig({
      remote: { files: { app: { content: 'elsewhere', mode: 'symlink' } } },
      objects: [aConfigMap('one')],
    });

    await rig.clock.advance(10_000);

    expect(rig.commits()).toEqual([]);
    expect(rig.targetHandle.status().refused).toMatchObject([{ code: 'write-escapes-scope' }]);
    await rig.runtime.close(0);
  });

  it('a sensitive object without encryption is left out; the rest of its window is written', async () => {
    const rig = await openRig({ collections: [aCollection(), aCollection(secrets)] });

    rig.write(aSecret('token'), undefined, secrets);
    rig.write(aConfigMap('one'));
    await rig.clock.advance(10_000);

    expect(paths(rig)).toEqual([doc('one')]);
    expect(rig.targetHandle.status().refused).toMatchObject([{ code: 'encryption-missing', ref: { name: 'token' } }]);
    expect(rig.logger.text()).not.toContain('hunter2');
    await rig.runtime.close(0);
  });

  it('fail closed: an object the sanitizers choke on is not written, its document is kept, and its content told to nobody', async () => {
    const rig = await openRig({
      plugins: [chokingSanitizer],
      remote: { files: { [doc('bad')]: stored('bad') } },
      settings: { prune: 'Always' },
      objects: [aConfigMap({ name: 'bad', data: { choke: 'a secret thing' } }), aConfigMap('good')],
    });

    await rig.clock.advance(10_000);

    expect(paths(rig)).toEqual([doc('bad'), doc('good')]);
    expect(rig.targetHandle.status().refused).toMatchObject([{ code: 'SanitizerFailed', ref: { name: 'bad' } }]);
    expect(JSON.stringify(rig.targetHandle.status().refused) + rig.logger.text()).not.toContain('a secret thing');
    await rig.runtime.close(0);
  });

  it('2.9: an unexpected planner error is waited out with the author kept', async () => {
    const picky = pickyLayout();
    const rig = await openRig({ layouts: [picky.plugin], isAttributed: true });
    picky.failures = 3;

    rig.write(aConfigMap('one'), { username: 'alice' });
    await rig.clock.advance(60_000);

    expect(rig.commits()).toEqual([{ author: 'alice', subject: 'chore: sync 1 resource(s)' }]);
    await rig.runtime.close(0);
  });

  it('2.9: after ten tries the window is dropped and a snapshot repairs the state', async () => {
    const picky = pickyLayout();
    const rig = await openRig({ layouts: [picky.plugin], isAttributed: true });
    picky.failures = 10;

    rig.write(aConfigMap('one'), { username: 'alice' });
    await rig.clock.advance(600_000);

    expect(rig.commits()).toEqual([{ author: 'GitOps Reverser', subject: 'chore: reconcile 1 configmaps' }]);
    expect(
      rig.metrics.value('git_commit_failures_total', {
        provider_namespace: 'demo',
        provider_name: 'host',
        branch: 'main',
        kind: 'window',
        reason: 'error',
      }),
    ).toBe(1);
    await rig.runtime.close(0);
  });
});

describe('5.4: a folder that cannot be used', () => {
  it('writes nothing, says why in one stable text, and recovers by one snapshot', async () => {
    const picky = pickyLayout();
    const rig = await openRig({
      layouts: [picky.plugin],
      remote: { files: { 'app/BROKEN': '' } },
      objects: [aConfigMap('one')],
    });
    await rig.clock.advance(1_000);
    const refused = rig.targetHandle.status();
    rig.write(aConfigMap('two'));
    await rig.clock.advance(8_000);
    const still = rig.commits();

    rig.remote.foreignPush({ 'app/BROKEN': undefined });
    await rig.clock.advance(120_000);

    expect(refused.folder).toMatchObject({ state: 'Refused', refusals: [{ code: 'invalid-yaml' }] });
    expect(still).toEqual([]);
    expect(paths(rig)).toEqual([doc('one'), doc('two')]);
    expect(rig.targetHandle.status().folder).toEqual({ state: 'Accepted', refusals: [] });
    expect(rig.commits()).toEqual([{ author: 'GitOps Reverser', subject: 'chore: reconcile 2 configmaps' }]);
    await rig.runtime.close(0);
  });

  it('20, 15: the log names every issue once, and again when they differ', async () => {
    const issues = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, at) => `-${from + at}`).join('\n');
    const rig = await openRig({
      layouts: [pickyLayout().plugin],
      remote: { files: { 'app/BROKEN': issues(0, 250) } },
      objects: [aConfigMap('one')],
    });
    await rig.clock.advance(1_000);
    const all = rig.logger.said('why the folder is refused').flatMap(({ fields }) => fields['issues'] as string[]);
    rig.remote.foreignPush({ 'app/other.jsonl': '' });
    await rig.clock.advance(120_000);
    const again = rig.logger.said('folder refused').length;
    rig.remote.foreignPush({ 'app/BROKEN': issues(0, 2) });
    await rig.clock.advance(120_000);

    expect(new Set(all).size).toBe(250);
    expect(all[249]).toMatch(/^invalid-yaml: BROKEN-249: /);
    expect(again).toBe(1);
    expect(rig.logger.said('folder refused').map(({ fields }) => fields['count'])).toEqual([250, 2]);
    await rig.runtime.close(0);
  });

  it('is looked at again slower and slower, never in a loop', async () => {
    const picky = pickyLayout();
    const rig = await openRig({ layouts: [picky.plugin], remote: { files: { 'app/BROKEN': '' } } });

    await rig.clock.advance(3_600_000);

    // 10 s doubling to 5 min: five steps, then one look in five minutes.
    expect(rig.remote.operations.length).toBeLessThan(20);
    expect(rig.remote.operations.length).toBeGreaterThan(10);
    await rig.runtime.close(0);
  });

  it('an idle target learns from an observation that its folder went bad', async () => {
    const picky = pickyLayout();
    const rig = await openRig({ layouts: [picky.plugin], objects: [aConfigMap('one')] });
    await rig.clock.advance(10_000);

    rig.remote.foreignPush({ 'app/BROKEN': '' });
    rig.branchHandle.observe();
    await rig.clock.settle();

    expect(rig.targetHandle.status().folder.state).toBe('Refused');
    await rig.runtime.close(0);
  });
});

describe('2.8: a suspended target', () => {
  it('commits nothing, drops its window, and is brought up to date when it resumes', async () => {
    const rig = await openRig();
    rig.write(aConfigMap('one'));
    await rig.clock.advance(1_000);

    rig.targetHandle.configure(someSettings({ suspend: true }));
    await rig.clock.advance(10_000);
    rig.write(aConfigMap('two'));
    await rig.clock.advance(60_000);
    const whileSuspended = [paths(rig), rig.targetHandle.status().retention];
    rig.targetHandle.configure(someSettings());
    await rig.clock.advance(60_000);

    expect(whileSuspended).toEqual([[], undefined]);
    expect(paths(rig)).toEqual([doc('one'), doc('two')]);
    await rig.runtime.close(0);
  });

  it('still judges its folder, and answers a resync', async () => {
    const picky = pickyLayout();
    const rig = await openRig({ layouts: [picky.plugin], settings: { suspend: true }, objects: [aConfigMap('one')] });

    rig.targetHandle.resync('look');
    await rig.clock.advance(10_000);

    expect(rig.targetHandle.status()).toMatchObject({ folder: { state: 'Accepted' }, resyncedToken: 'look' });
    expect(rig.commits()).toEqual([]);
    await rig.runtime.close(0);
  });
});

it('several collections of one target share a folder and a branch', async () => {
  const rig = await openRig({ collections: [aCollection(), aCollection(widgets)], objects: [aConfigMap('one')] });
  rig.cluster.put(widgets, aWidget('w'));

  await rig.clock.advance(20_000);

  expect(paths(rig)).toEqual([doc('one'), 'app/demo/widget-w.jsonl']);
  expect(refOf(widgets, aWidget('w')).name).toBe('w');
  expect(rig.targetHandle.status().streams.map(({ collection, state }) => [collection.target, state])).toEqual([
    [TARGET, 'Streaming'],
    [TARGET, 'Streaming'],
  ]);
  await rig.runtime.close(0);
});
