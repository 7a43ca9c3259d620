import { withEcho, type DesiredChange, type KubeObject, type PlanStep } from '@gitops-reverser/kernel-api';
import { memoryFolder } from '@gitops-reverser/kernel-testing';
import { FolderCache } from '@gitops-reverser/toolkit-manifests';
import { createPlainLayout } from './layout.js';
import { OpenedFiles } from './opened-files.js';
import { createPlainWriter } from './writer.js';

const names = ['one', 'two', 'three', 'four'];
const bundle = `# file head
${names.map((name) => `--- # ${name}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata:\n  k: 'ä' # kept\n`).join('')}# end
`;
const object = (name: string, data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data,
});
const refOf = ({ metadata: { name, namespace }, apiVersion, kind }: KubeObject) => {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return {
    group,
    version,
    resource: `${kind.toLowerCase()}s`,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
};
const upsert = (live: KubeObject): DesiredChange => ({
  kind: 'upsert',
  ref: refOf(live),
  object: live,
  sensitive: false,
});

/** Layout and writer of one plugin, or of two that share nothing. */
function plain(isShared: boolean) {
  const cache = new FolderCache();
  const files = new OpenedFiles();
  const settings = { placement: { byType: {}, useKustomize: false } };
  const layout = createPlainLayout({ settings, cache, files });
  const writer = isShared ? createPlainWriter(cache, files) : createPlainWriter(cache);
  return {
    plan: (bytes: Uint8Array, changes: readonly DesiredChange[]): readonly PlanStep[] =>
      layout.plan(changes, memoryFolder({ 'all.yaml': bytes })).flatMap((answer) => {
        if (!answer.ok) throw new Error(answer.error.message);
        return answer.value;
      }),
    async render(steps: readonly PlanStep[], onto: Uint8Array): Promise<Uint8Array> {
      let bytes = onto;
      for (const step of steps) {
        const rendered = await writer.render(step, bytes, new AbortController().signal);
        if (!rendered.ok || rendered.value === 'delete-file') throw new Error('expected bytes');
        bytes = rendered.value;
      }
      return bytes;
    },
  };
}

const changes: readonly DesiredChange[] = [
  upsert(object('three', { k: 'ö', more: 'x\ny\n' })),
  upsert(object('one', { k: 'ü' })),
  { kind: 'delete', ref: refOf(object('two', {})) },
  upsert(object('four', {})),
  upsert(object('five', { k: 'new' })),
];

describe('20, 6.1: several edits of one batch in one file', () => {
  it('give what each alone gives on what the one before it left, whether or not the layout shares its files', async () => {
    const { plan, render } = plain(true);
    const steps = plan(Buffer.from(bundle), changes);
    const together = await render(steps, Buffer.from(bundle));
    const apart = plain(false);

    expect(Buffer.from(together).toString()).toBe(
      Buffer.from(await apart.render(apart.plan(Buffer.from(bundle), changes), Buffer.from(bundle))).toString(),
    );
    expect(plan(together, changes)).toEqual([]);
    expect(Buffer.from(together).toString()).toContain(
      "--- # three\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: three, namespace: shop}\ndata:\n  k: 'ö' # kept\n  more: |\n    x\n    y\n",
    );
  });

  it('are made anew on a file that changed since the plan, and take only their own document', async () => {
    const { plan, render } = plain(true);
    const [step] = plan(Buffer.from(bundle), [upsert(object('three', { k: 'ö' }))]);
    const moved = bundle
      .replace("  k: 'ä' # kept\n", "  k: 'ä' # kept\n  sibling: changed\n")
      .replace('--- # three', '--- # 3');

    expect(Buffer.from(await render([step as PlanStep], Buffer.from(moved))).toString()).toBe(
      moved.replace(/(name: three[^]*?)'ä'/, "$1'ö'"),
    );
  });

  it('are not made on a file that is encrypted meanwhile', async () => {
    const { plan, render } = plain(true);
    const [step] = plan(Buffer.from(bundle), [upsert(object('three', { k: 'ö' }))]);

    await expect(render([step as PlanStep], Buffer.from(`${bundle}---\nsops: {mac: x}\n`))).rejects.toThrow('bytes');
  });
});

it('20, 6.4: a list of a custom type pairs by the keys its object echoes', async () => {
  const git = `apiVersion: mesh.example.test/v1
kind: Gate
metadata: {name: all}
spec:
  routes:
    # the root
    - {host: a, path: /, weight: 1}
    # the shop
    - {host: a, path: /shop, weight: 1}
`;
  const routes = [
    { host: 'a', path: '/shop', weight: 2 },
    { host: 'a', path: '/', weight: 3 },
  ];
  const live: KubeObject = {
    apiVersion: 'mesh.example.test/v1',
    kind: 'Gate',
    metadata: { name: 'all' },
    spec: { routes },
  };
  const edited = async (what: KubeObject, isShared: boolean): Promise<string> => {
    const { plan, render } = plain(isShared);
    const bytes = Buffer.from(git);
    return Buffer.from(await render(plan(bytes, [upsert(what)]), isShared ? bytes : Buffer.from(git))).toString();
  };
  const keyed = withEcho(live, { listKeys: { 'spec/routes': ['host', 'path'] } });

  const expected = git.replace(
    /# the root[^]*/,
    '# the shop\n    - {host: a, path: /shop, weight: 2}\n    # the root\n    - {host: a, path: /, weight: 3}\n',
  );
  expect(await edited(keyed, true)).toBe(expected);
  expect(await edited(keyed, false)).toBe(expected);
  expect(await edited(live, true)).not.toBe(expected);
});

it('holds no more bytes than it may', () => {
  const files = new OpenedFiles(100);
  const small = Buffer.from('a: 1\n');
  const open = (bytes: Uint8Array) => {
    const opened = files.open('a.yaml', bytes);
    if (!opened.ok) throw new Error(opened.error.message);
    return opened.value;
  };
  const first = open(small);

  expect(open(small)).toBe(first);
  expect(open(Buffer.from('a: 1\n'))).not.toBe(first);
  open(Buffer.from(`a: ${'x'.repeat(90)}\n`));
  expect(open(small)).not.toBe(first);
  const large = Buffer.from(`a: ${'x'.repeat(200)}\n`);
  expect(open(large)).not.toBe(open(large));
});
