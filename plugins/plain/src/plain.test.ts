import type { DesiredChange, FolderView, KubeObject, PlanStep, Refusal, Result } from '@gitops-reverser/kernel-api';
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
    },
  });

const planOne = (change: DesiredChange, folder: FolderView, serializeNamespace?: boolean) =>
  layoutFor(serializeNamespace).plan([change], folder)[0] as Result<readonly PlanStep[], Refusal>;

/** The folder after the changes, as plans and renderings leave it. */
async function write(files: FileContents, changes: readonly DesiredChange[], serializeNamespace?: boolean) {
  const texts = new Map<string, string>(Object.entries(files).map(([path, content]) => [path, content as string]));
  const writer = createPlainWriter();
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
  expect(answer.ok && answer.value.some((step) => createPlainWriter().accepts(step))).toBe(false);
});

it('FC-YML-9, FC-YML-10: a document that no edit may touch is neither edited nor placed again', () => {
  const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: demo}\ndata:\n';
  for (const body of ['  a: &v "1"\n  b: *v\n', '  a: "1"\n  a: "2"\n']) {
    const folder = memoryFolder({ 'a.yaml': head + body });
    for (const change of [upsert(aConfigMap('app')), removal(aConfigMap('app'))]) {
      const answer = planOne(change, folder);

      expect(answer).toMatchObject({ ok: false, error: { path: 'a.yaml' } });
    }
  }
});
