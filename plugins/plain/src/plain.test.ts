import {
  withEcho,
  type DesiredChange,
  type FolderView,
  type KubeObject,
  type PlanStep,
  type Refusal,
  type Result,
} from '@gitops-reverser/kernel-api';
import {
  aConfigMap,
  aNamespace,
  aSecret,
  deepFreeze,
  memoryFolder,
  refTo,
  type FileContents,
} from '@gitops-reverser/kernel-testing';
import { FolderCache } from '@gitops-reverser/toolkit-manifests';
import { createPlainLayout } from './layout.js';
import { createPlainWriter } from './writer.js';

const upsert = (object: KubeObject): DesiredChange =>
  deepFreeze({ kind: 'upsert', ref: refTo(object), object, sensitive: object.kind === 'Secret' });
const removal = (object: KubeObject): DesiredChange => deepFreeze({ kind: 'delete', ref: refTo(object) });

const layoutFor = (serializeNamespace?: boolean) =>
  createPlainLayout({
    cache: new FolderCache(),
    settings: {
      placement: { byType: {}, useKustomize: false },
      ...(serializeNamespace === undefined ? {} : { serializeNamespace }),
      sourceNamespaces: [{ name: 'demo', namedBy: ['WatchRule demo/basics'] }],
    },
  });

const planOne = (change: DesiredChange, folder: FolderView, serializeNamespace?: boolean) =>
  layoutFor(serializeNamespace).plan([change], folder)[0] as Result<readonly PlanStep[], Refusal>;

/** The folder after the changes, as plans and renderings leave it. */
async function write(files: FileContents, changes: readonly DesiredChange[], serializeNamespace?: boolean) {
  const texts = new Map<string, string>(Object.entries(files).map(([path, content]) => [path, content as string]));
  const writer = createPlainWriter(new FolderCache());
  for (const answer of layoutFor(serializeNamespace).plan(changes, memoryFolder(files))) {
    if (!answer.ok) throw new Error(answer.error.message);
    for (const step of answer.value) {
      expect(writer.accepts(step)).toBe(true);
      const before = texts.get(step.path);
      const rendered = await writer.render(
        step,
        before === undefined ? undefined : Buffer.from(before),
        new AbortController().signal,
      );
      if (!rendered.ok) throw new Error(rendered.error.message);
      if (rendered.value === 'delete-file') texts.delete(step.path);
      else texts.set(step.path, Buffer.from(rendered.value).toString());
    }
  }
  return Object.fromEntries(texts);
}

it('places a new object at its canonical path, in the one style', async () => {
  expect(await write({}, [upsert(aConfigMap('app')), upsert(aNamespace('shop'))])).toEqual({
    'demo/configmaps/app.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: demo\ndata:\n  colour: blue\n',
    '_cluster/namespaces/shop.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n',
  });
});

it('removes the file with its last document and keeps the rest of a bundle', async () => {
  const one = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: demo} # kept\n';
  const two = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: demo}\n';

  expect(await write({ 'a.yaml': `${one}---\n${two}` }, [removal(aConfigMap('two'))])).toEqual({ 'a.yaml': one });
  expect(await write({ 'a.yaml': `${one}---\n${two}` }, [removal(aConfigMap('one'))])).toEqual({ 'a.yaml': two });
  expect(await write({ 'a.yaml': one, 'b.yaml': two }, [removal(aConfigMap('one'))])).toEqual({ 'b.yaml': two });
});

it('leaves out the namespace where the folder stands for one', async () => {
  const written = await write({}, [upsert(aConfigMap('app'))], false);

  expect(Object.values(written)).toEqual([
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  colour: blue\n',
  ]);
  expect(planOne(upsert(aConfigMap('app')), memoryFolder(written), false)).toEqual({ ok: true, value: [] });
});

it('20, 14: a sensitive object is planned as such, and this writer does not take it', () => {
  const answer = planOne(upsert(aSecret('db')), memoryFolder({}));

  expect(answer).toMatchObject({
    ok: true,
    value: [{ kind: 'put-document', path: 'demo/secrets/db.sops.yaml', sensitive: true }],
  });
  expect(answer.ok && answer.value.some((step) => createPlainWriter(new FolderCache()).accepts(step))).toBe(false);
});

it('FC-YML-9, FC-YML-10: a document that no edit may touch is neither edited nor placed again', () => {
  const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: demo}\ndata:\n';
  for (const body of ['  a: &v "1"\n  b: *v\n', '  a: "1"\n  a: "2"\n']) {
    const folder = memoryFolder({ 'a.yaml': head + body });
    for (const change of [upsert(aConfigMap('app')), removal(aConfigMap('app'))]) {
      const answer = planOne(change, folder);

      expect(answer).toMatchObject({ ok: false, error: { path: 'a.yaml', index: 0, skip: true } });
    }
  }
});

describe('7.7: serializeNamespace: false', () => {
  const inOther = aConfigMap({ name: 'app', namespace: 'other' });
  const layoutOf = (...names: readonly string[]) =>
    createPlainLayout({
      cache: new FolderCache(),
      settings: {
        placement: { byType: {}, useKustomize: false },
        serializeNamespace: false,
        sourceNamespaces: names.map((name) => ({ name, namedBy: [`WatchRule demo/of-${name}`, 'GitTarget demo/app'] })),
      },
    });

  it.each([
    [['other', 'demo'], 'found demo (WatchRule demo/of-demo, GitTarget demo/app) and other (WatchRule demo/of-other, '],
    [['*'], 'found * (WatchRule demo/of-*, GitTarget demo/app)'],
  ])('refuses the target that may follow %j, and names the rules', (names, text) => {
    const layout = layoutOf(...names);
    const refusal = { code: 'multiple-source-namespaces', message: expect.stringContaining(text) as string };

    expect(layout.recognise(memoryFolder({}))).toMatchObject({ kind: 'refused', refusals: [refusal] });
    expect(layout.plan([upsert(aConfigMap('app')), upsert(aNamespace('x'))], memoryFolder({}))).toMatchObject([
      { ok: false, error: { ...refusal, whole: true } },
      { ok: true },
    ]);
  });

  it.each([
    ['that nobody names', ['demo'], 'ConfigMap other/app: expected one source namespace'],
    ['where none is declared', [], 'found none'],
  ])('guesses nothing: an object of a namespace %s refuses its write', (_, names, text) => {
    const layout = layoutOf(...names);

    expect(layout.recognise(memoryFolder({}))).toMatchObject({ kind: 'mine' });
    expect(layout.plan([upsert(inOther)], memoryFolder({}))).toMatchObject([
      { ok: false, error: { code: 'multiple-source-namespaces', message: expect.stringContaining(text) as string } },
    ]);
  });
});

describe('14: sensitive objects, planned for a writer that encrypts', () => {
  const secret = (name: string): string => `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: demo}\n`;
  const steps = (files: FileContents, change: DesiredChange) => {
    const answer = planOne(change, memoryFolder(files));
    return answer.ok ? answer.value.map(({ kind, path }) => `${kind} ${path}`) : answer.error.code;
  };

  it('stay where they are the only document, plain or not, and are never taken for unchanged', () => {
    expect(steps({ 'x/db.yaml': secret('db') }, upsert(aSecret('db')))).toEqual(['put-document x/db.yaml']);
    expect(steps({ 'x/db.enc.yaml': `${secret('db')}sops: {mac: x}\n` }, upsert(aSecret('db')))).toEqual([
      'put-document x/db.enc.yaml',
    ]);
  });

  it('move out of a file that holds others', () => {
    expect(steps({ 'all.yaml': `${secret('db')}---\n${secret('other')}` }, upsert(aSecret('db')))).toEqual([
      'put-document demo/secrets/db.sops.yaml',
      'drop-document all.yaml',
    ]);
  });

  it('say that the plain text stays in the history, wherever the document goes', () => {
    const marked = (files: FileContents) => {
      const answer = planOne(upsert(aSecret('db')), memoryFolder(files));
      return answer.ok && answer.value.some((step) => step.kind === 'put-document' && step.replacesPlaintext === true);
    };

    expect(marked({ 'x/db.yaml': secret('db') })).toBe(true);
    expect(marked({ 'all.yaml': `${secret('db')}---\n${secret('other')}` })).toBe(true);
    expect(marked({ 'x/db.enc.yaml': `${secret('db')}sops: {mac: x}\n` })).toBe(false);
    expect(marked({})).toBe(false);
  });

  it('stay put in a file of several encrypted ones, which only goes as a whole', () => {
    const files = { 'all.yaml': `${secret('db')}sops: {mac: x}\n---\n${secret('b')}sops: {mac: x}\n` };

    expect(steps(files, upsert(aSecret('db')))).toBe('unsafe');
    expect(steps(files, removal(aSecret('db')))).toBe('unsafe');
    const both = layoutFor().plan([removal(aSecret('db')), removal(aSecret('b'))], memoryFolder(files));
    expect(both.map(({ ok: isPlanned }) => isPlanned)).toEqual([true, true]);
  });

  it('neither does a plain document beside an encrypted one change, nor one that is encrypted alone', () => {
    const plain = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: demo}\n';
    const beside = { 'all.yaml': `${plain}---\n${secret('db')}sops: {mac: x}\n` };

    expect(steps(beside, upsert(aConfigMap('app')))).toBe('unsafe');
    expect(steps(beside, removal(aConfigMap('app')))).toBe('unsafe');
    expect(steps({ 'app.yaml': `${plain}sops: {mac: x}\n` }, upsert(aConfigMap('app')))).toBe('encrypted');
  });

  it('a plain object is not written into a file that is named as encrypted', () => {
    const files = { 'app.sops.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: demo}\n' };

    expect(steps(files, upsert(aConfigMap('app')))).toBe('missing-sops-key');
  });
});

it('3.6: finalizers that live objects lost leave Git with the next edit', async () => {
  const file = (finalizers: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: demo\n${finalizers}data:\n  colour: blue\n`;
  const before = { 'a.yaml': file('  finalizers: [mine.test/a, theirs.test/b]\n') };
  const object = aConfigMap('app');

  expect(await write(before, [upsert(object)])).toEqual(before);
  expect(await write(before, [upsert(withEcho(object, { finalizers: ['mine.test/a', 'new.test/c'] }))])).toEqual({
    'a.yaml': file('  finalizers: [mine.test/a]\n'),
  });
});

it('FC-SEC-2: paths that leave the folder, links and submodules are refused by name', () => {
  const link = { content: '/etc/passwd', mode: 'symlink' as const };
  const folder = memoryFolder({ 'x.yaml': link, sub: { content: '0'.repeat(40), mode: 'submodule' as const } });
  const recognition = layoutFor().recognise(folder);

  expect(recognition.kind === 'refused' && recognition.refusals.map(({ code, path }) => [code, path])).toEqual([
    ['foreign-submodule', 'sub'],
    ['foreign-symlink', 'x.yaml'],
  ]);
});
