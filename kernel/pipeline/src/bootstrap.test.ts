import type { BootstrapFile, Layout, Placed, Writer } from '@gitops-reverser/kernel-api';
import { aConfigMap, aSecret, memoryFolder, secrets, type FileContents } from '@gitops-reverser/kernel-testing';
import { bootstrapFiles } from './bootstrap.js';
import { pickyLayout } from './picky.fixture.js';
import { aCollection, openRig, type Rig } from './rig.fixture.js';

const file = (path: string, content = `${path} of ours`): BootstrapFile => ({ path, bytes: Buffer.from(content) });
const layout = (...files: readonly BootstrapFile[]): Layout => ({ bootstrap: () => files }) as unknown as Layout;
const writer = (...files: readonly BootstrapFile[]): Placed<'writer'> => ({
  plugin: 'some',
  serves: [],
  instance: { bootstrap: () => files } as unknown as Writer,
});
const texts = (files: ReadonlyMap<string, Uint8Array | undefined>): Readonly<Record<string, string>> =>
  Object.fromEntries([...files].map(([path, bytes]) => [path, Buffer.from(bytes ?? []).toString()]));

describe('40, 3.2: which bootstrap files join a commit', () => {
  it.each<{ name: string; why: string; there: FileContents; joins: readonly string[] }>([
    { name: 'missing', why: 'that is what they are for', there: {}, joins: ['README.md'] },
    { name: 'there', why: 'an existing file is never overwritten', there: { 'README.md': 'theirs' }, joins: [] },
    { name: 'there, empty', why: 'emptied on purpose', there: { 'README.md': '' }, joins: [] },
    { name: 'readme.md', why: 'some file systems ignore case', there: { 'readme.md': 'theirs' }, joins: [] },
    { name: 'a folder', why: 'a tree has one entry of a name', there: { 'README.md/a.jsonl': '' }, joins: [] },
    {
      name: 'a symlink',
      why: 'nothing is followed',
      there: { 'README.md': { content: '../x', mode: 'symlink' } },
      joins: [],
    },
  ])('$name: $why', ({ there, joins }) => {
    const folder = memoryFolder(there);

    const { files } = bootstrapFiles(layout(file('README.md')), [], folder, folder, new Map());

    expect([...files.keys()]).toEqual(joins);
  });

  it('takes the first of two that name one path, the layout before the writers', () => {
    const folder = memoryFolder({});
    const writers = [writer(file('b', 'first writer'), file('a', 'writer')), writer(file('b', 'second writer'))];

    const { files } = bootstrapFiles(layout(file('a', 'layout')), writers, folder, folder, new Map());

    expect(texts(files)).toEqual({ a: 'layout', b: 'first writer' });
  });

  it('leaves a path that the commit writes or removes to the commit', () => {
    const folder = memoryFolder({ 'b.jsonl': '' });
    const changes = new Map([
      ['a', Buffer.from('document')],
      ['b.jsonl', undefined],
    ]);

    const { files } = bootstrapFiles(layout(file('a'), file('b.jsonl'), file('c')), [], folder, folder, changes);

    expect([...files.keys()]).toEqual(['c']);
  });

  it('I2: writes none outside the folder, through a link or into the folder of Git', () => {
    const folder = memoryFolder({ link: { content: '..', mode: 'symlink' } });
    const wanted = ['../README.md', '/README.md', '.git/config', 'link/README.md', 'a//b', 'fine'].map((p) => file(p));

    const { files, rejected } = bootstrapFiles(layout(...wanted), [], folder, folder, new Map());

    expect([...files.keys()]).toEqual(['fine']);
    expect(rejected.map(({ path }) => path)).toEqual(wanted.slice(0, -1).map(({ path }) => path));
  });
});

describe('40, 3.2: bootstrap files on the river', () => {
  const picky = pickyLayout();
  picky.beside.layout = [file('README.md')];
  picky.beside.writer = [file('.keys')];
  const paths = (rig: Rig): readonly string[] => Object.keys(rig.remote.files('main')).sort();
  const one = 'app/demo/configmap-one.jsonl';

  it('join the first commit that changes a document, of a window or of a snapshot', async () => {
    const live = await openRig({ layouts: [picky.plugin] });
    live.write(aConfigMap('one'));
    await live.clock.advance(10_000);
    const snapshot = await openRig({ layouts: [picky.plugin], objects: [aConfigMap('one')] });
    await snapshot.clock.advance(10_000);

    for (const rig of [live, snapshot]) {
      expect(paths(rig)).toEqual(['README.md', 'app/.keys', 'app/README.md', one]);
      expect(rig.commits()).toHaveLength(1);
      await rig.runtime.close(0);
    }
  });

  it('never make a commit of their own', async () => {
    const stored =
      '{"apiVersion":"v1","data":{"value":"same"},"kind":"ConfigMap","metadata":{"name":"one","namespace":"demo"}}\n';
    const rig = await openRig({
      layouts: [picky.plugin],
      remote: { files: { [one]: stored } },
      objects: [aConfigMap({ name: 'one', data: { value: 'same' } })],
    });

    await rig.clock.advance(30_000);

    expect(rig.commits()).toEqual([]);
    await rig.runtime.close(0);
  });

  it('20, 14: wait while something of the folder is refused', async () => {
    const rig = await openRig({ layouts: [picky.plugin], collections: [aCollection(), aCollection(secrets)] });

    rig.write(aSecret('token'), undefined, secrets);
    rig.write(aConfigMap('one'));
    await rig.clock.advance(10_000);

    expect(paths(rig)).toEqual(['README.md', one]);
    await rig.runtime.close(0);
  });

  it('come back with the next change when somebody removed them, and stay as somebody edited them', async () => {
    const rig = await openRig({ layouts: [picky.plugin], objects: [aConfigMap('one')] });
    await rig.clock.advance(10_000);

    rig.remote.foreignPush({ 'app/README.md': undefined, 'app/.keys': 'edited' });
    rig.write(aConfigMap('two'));
    await rig.clock.advance(20_000);

    expect(rig.remote.files('main')).toMatchObject({ 'app/README.md': 'README.md of ours', 'app/.keys': 'edited' });
    await rig.runtime.close(0);
  });

  it('are judged like anybody’s file: a folder that its own plugin spoils is refused', async () => {
    const spoiling = pickyLayout();
    spoiling.beside.layout = [file('BROKEN')];
    const rig = await openRig({ layouts: [spoiling.plugin], objects: [aConfigMap('one')] });
    await rig.clock.advance(10_000);

    rig.write(aConfigMap('two'));
    await rig.clock.advance(10_000);

    expect(rig.targetHandle.status().folder).toMatchObject({ state: 'Refused' });
    expect(rig.commits()).toHaveLength(1);
    await rig.runtime.close(0);
  });
});
