import type { PlanStep, Refusal, Result } from '@gitops-reverser/kernel-api';
import { FolderCache } from '@gitops-reverser/toolkit-manifests';
import type { meanings } from './meanings.js';
import { parseValuePointer } from './value-pointer.js';
import { createPlainWriter } from './writer.js';

const writer = createPlainWriter(new FolderCache());
const step = (pointer: string, value: unknown, path = 'web.yaml'): PlanStep => ({
  kind: 'set-value',
  path,
  pointer,
  value,
});

function render(what: PlanStep, before: string | undefined): Promise<Result<Uint8Array | 'delete-file', Refusal>> {
  const bytes = before === undefined ? undefined : Buffer.from(before);
  return writer.render(what, bytes, new AbortController().signal);
}

async function set(before: string, pointer: string, value: unknown): Promise<string> {
  const rendered = await render(step(pointer, value), before);
  if (!rendered.ok || rendered.value === 'delete-file') throw new Error(rendered.ok ? '' : rendered.error.message);
  return Buffer.from(rendered.value).toString();
}

const web = `# the shop's own
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2   # keep odd
  template:
    spec:
      containers:
      - image: 'web:1' # pinned
status: {replicas: 2}
`;
const pair = `${web}---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata: {a/b: x}\n`;

describe('20, 6.5: a value is set in place', () => {
  it.each([
    { what: 'a scalar', pointer: '/spec/replicas', value: 3, old: 'replicas: 2 ', fresh: 'replicas: 3 ' },
    {
      what: 'an item of a list',
      pointer: '/spec/template/spec/containers/0/image',
      value: 'web:2',
      old: "'web:1'",
      fresh: "'web:2'",
    },
    {
      what: 'a key that is new',
      pointer: '/spec/paused',
      value: true,
      old: 'status:',
      fresh: '  paused: true\nstatus:',
    },
    {
      what: 'a map that is new, on the way',
      pointer: '/spec/strategy/type',
      value: 'Recreate',
      old: 'status:',
      fresh: '  strategy:\n    type: Recreate\nstatus:',
    },
    { what: 'a key without a name', pointer: '/spec/', value: 1, old: 'status:', fresh: '  "": 1\nstatus:' },
  ])('$what, and every other byte stays, status included', async ({ pointer, value, old, fresh }) => {
    const after = await set(web, pointer, value);

    expect(after).toBe(web.replace(old, fresh));
    expect(await set(after, pointer, value)).toBe(after);
  });

  it('in the document that the pointer names, with escapes for slashes', async () => {
    expect(await set(pair, 'Deployment.apps/shop/web#/spec/replicas', 3)).toBe(
      pair.replace('replicas: 2 ', 'replicas: 3 '),
    );
    expect(await set(pair, 'ConfigMap//web#/data/a~1b', 'z')).toBe(pair.replace('a/b: x', 'a/b: z'));
  });

  it.each<[string, string, string | undefined, string, keyof typeof meanings]>([
    ['a file that is not there', 'web.yaml', undefined, '/spec/replicas', 'missing-document'],
    ['a document that is not there', 'web.yaml', web, 'Deployment.apps/shop/api#/spec/replicas', 'missing-document'],
    ['one of several documents, unnamed', 'web.yaml', pair, '/spec/replicas', 'missing-document'],
    ['a file without manifests', 'web.yaml', 'a: 1\n', '/a', 'missing-document'],
    ['an encrypted document', 'web.yaml', `${web}sops: {mac: x}\n`, '/spec/replicas', 'encrypted'],
    ['a file that is named as encrypted', 'web.sops.yaml', web, '/spec/replicas', 'encrypted'],
    ['a document with an anchor', 'web.yaml', web.replace('2   #', '&two 2 #'), '/spec/replicas', 'non-editable'],
    ['an item beyond the end', 'web.yaml', web, '/spec/template/spec/containers/1/image', 'no-such-value'],
    ['a place within a scalar', 'web.yaml', web, '/spec/replicas/max', 'no-such-value'],
    ['a value that is none', 'web.yaml', web, '/spec/replicas', 'unplaceable-edit'],
  ])('%s is left alone, visibly', async (_, path, before, pointer, code) => {
    const value = code === 'unplaceable-edit' ? Number.NaN : 3;
    const rendered = await render(step(pointer, value, path), before);

    expect(rendered).toMatchObject({ ok: false, error: { code, path, skip: true } });
    if (!rendered.ok) expect(rendered.error.message).toContain(pointer);
  });

  it('a file that does not parse is refused', async () => {
    expect(await render(step('/spec/replicas', 3), '\0')).toMatchObject({ ok: false, error: { code: 'invalid-yaml' } });
  });
});

describe('20, 6.5: a pointer', () => {
  it.each([
    ['/a', { path: ['a'] }],
    ['/', { path: [''] }],
    ['/a~1b/~0/c#/d', { path: ['a/b', '~', 'c#', 'd'] }],
    [
      'ConfigMap/shop/a#/data',
      { document: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'a' }, path: ['data'] },
    ],
    [
      'ClusterRole.rbac.authorization.k8s.io//system:x#y#/rules/0',
      {
        document: { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:x#y' },
        path: ['rules', '0'],
      },
    ],
  ])('%s', (pointer, parsed) => {
    expect(parseValuePointer(pointer)).toEqual(parsed);
  });

  it.each([
    '',
    'a',
    'spec.replicas',
    'KEY',
    '/a~',
    '/a~2',
    'web#/spec',
    'Deployment/web#/spec',
    'Deployment/a/#/spec',
    '.apps/a/b#/c',
  ])('is none: %j, and its step is left to others', (pointer) => {
    expect(parseValuePointer(pointer)).toBeUndefined();
    expect(writer.accepts(step(pointer, 1))).toBe(false);
  });

  it('of another file is left to others', () => {
    expect(writer.accepts(step('/a', 1, 'app.env'))).toBe(false);
    expect(writer.accepts(step('/a', 1))).toBe(true);
  });
});
