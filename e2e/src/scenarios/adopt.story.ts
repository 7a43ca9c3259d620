import type { GitRepository, Kubectl, KubectlRunOptions } from '@gitops-reverser/e2e-harness';

import { adoptedKinds, readAdoptedRepository, recorded } from './adopted.js';
import { analyze, cloneInto, refusalsOf } from './analyzer.js';
import { declaration, kubeProvider } from './objects.js';
import { applyCrds, CommitReader, openStage, story } from './stage.js';
import type { Stage } from './stage.js';

const folder = 'clusters/west';
const rules = [
  '{apiGroups: [""], resources: [configmaps, services]}',
  '{apiGroups: [apps], resources: [deployments]}',
  '{apiGroups: [helm.toolkit.fluxcd.io], resources: [helmreleases]}',
  '{apiGroups: [fruit.example.com], resources: [trees]}',
];

// Each step builds on the one before. What a commit changed is compared as a whole: the lines named are the only bytes that differ.
story('adopting a repository that people wrote: their files keep their shape', () => {
  let stage: Stage;
  let kubectl: Kubectl;
  let repository: GitRepository;
  let commits: CommitReader;
  let namespace: string;
  let files: Readonly<Record<string, string>>;

  beforeAll(async () => {
    stage = await openStage('adopt');
    kubectl = stage.kubectl;
    namespace = await stage.createNamespace('orchard');
    files = await readAdoptedRepository(namespace);
    repository = await stage.host.createRepository('orchard/deploy', { files });
    commits = new CommitReader(repository, 'main');
    await commits.skip();
    await applyCrds(kubectl);
    const kinds = (await kubectl.apply(adoptedKinds, '-o', 'name')).split('\n').filter(Boolean);
    await kubectl.run(['wait', '--for=condition=Established', '--timeout=30s', ...kinds]);
    stage.cleanUpWith('delete', ...kinds);
    await stage.startOperator();
  }, 120_000);
  afterAll(() => stage[Symbol.asyncDispose]());
  afterEach(() => repository.fsck());

  /** Edits with kubectl; gives what the one commit that follows changed. */
  const edit = async (args: readonly string[], options: KubectlRunOptions = {}): Promise<string> => {
    await kubectl.run([...args, '-n', namespace], options);
    const made = await commits.next(`the commit of kubectl ${args.join(' ')}`);
    expect(made).toHaveLength(1);
    return await repository.diff(made[0]?.sha ?? '');
  };
  const patch = (object: string, type: 'json' | 'merge' | 'strategic', body: unknown): Promise<string> =>
    edit(['patch', object, `--type=${type}`, '-p', JSON.stringify(body)]);
  const resync = async (): Promise<void> => {
    const asked = String(Date.now());
    const annotation = `reconcile.configbutler.ai/requestedAt=${asked}`;
    await kubectl.run(['annotate', '-n', namespace, 'gittarget/live', '--overwrite', annotation]);
    const handled = `--for=jsonpath={.status.lastHandledReconcileAt}=${asked}`;
    await kubectl.run(['wait', '-n', namespace, 'gittarget/live', handled, '--timeout=30s']);
  };

  it('the analyzer says beforehand that the folder can be taken on', async () => {
    const clone = await cloneInto(`${stage.dir}/before`, repository);

    const scan = await analyze('--mode', 'scan-folder', `${clone}/${folder}`);

    expect(await refusalsOf(`${clone}/${folder}`)).toEqual({ code: 0, issues: [] });
    expect(scan.text).toBe(`${clone}/${folder}: accepted\n  read only: charts/press-values.yaml\n`);
  });

  it('day one: what the API server filled in is added where it belongs, and nothing else changes', async () => {
    for (const text of manifestsOf(files)) await kubectl.apply(text);
    const provider = `adopt${stage.suffix}`;
    await kubectl.apply(kubeProvider(provider, `{namespaces: {names: [${namespace}]}}`));
    stage.cleanUpWith('delete', 'kubeprovider', provider);
    const url = stage.host.urlOf('orchard/deploy');
    await kubectl.apply(declaration({ namespace, kubeProvider: provider, url, path: folder, rules }));
    await stage.waitUntilReady(namespace, 'gittarget/live', 'watchrule/basics');
    await resync();

    const made = await commits.next('the first commits');
    const diff = await repository.diff('main', made[0]?.parents[0]);

    expect(diff).toBe(await recorded('adopted-day-one.diff', diff, namespace));
    expect(made.map(({ subject }) => subject.replace(/ \(.*/, '')).sort()).toEqual([
      `chore: reconcile 1 deployments in ${namespace}`,
      `chore: reconcile 1 helmreleases in ${namespace}`,
      `chore: reconcile 2 services in ${namespace}`,
    ]);
  });

  it('a second snapshot finds nothing to write, nor does one after a restart', async () => {
    await resync();
    await stage.operator.stop();
    await stage.startOperator();
    await stage.waitUntilReady(namespace, 'gittarget/live', 'watchrule/basics');
    await resync();

    expect(await commits.unread()).toEqual([]);
  });

  it('Deployment: a new image is one line, its quotes and the comment behind it stay', async () => {
    expect(await edit(['set', 'image', 'deployment/api', 'api=registry.example.com/orchard/api:1.5.0'])).toBe(
      `${folder}/api/deployment.yaml
-          image: 'registry.example.com/orchard/api:1.4.0' # {"$imagepolicy": "${namespace}:api"}
+          image: 'registry.example.com/orchard/api:1.5.0' # {"$imagepolicy": "${namespace}:api"}
`,
    );
  });

  it('Deployment: a scale is one line', async () => {
    expect(await edit(['scale', 'deployment/api', '--replicas=3'])).toBe(`${folder}/api/deployment.yaml
-  replicas: 2 # three during harvest
+  replicas: 3 # three during harvest
`);
  });

  it('Deployment: a restart is an annotation of its template', async () => {
    const diff = await edit(['rollout', 'restart', 'deployment/api']);

    expect(diff.replace(/"?\d{4}-\d\d-\d\dT[0-9:+Z-]+"?/, 'NOW')).toBe(`${folder}/api/deployment.yaml
+      annotations:
+        kubectl.kubernetes.io/restartedAt: NOW
`);
  });

  it('Service: a port joins the list in its own indentation', async () => {
    const port = { name: 'metrics', port: 9090, targetPort: 'metrics' };

    expect(await patch('service/api', 'json', [{ op: 'add', path: '/spec/ports/-', value: port }]))
      .toBe(`${folder}/api/services.yaml
+  - name: metrics
+    port: 9090
+    protocol: TCP
+    targetPort: metrics
`);
  });

  it('Service: a port changes in a list in flow style', async () => {
    const ports = [{ name: 'metrics', port: 9091, protocol: 'TCP', targetPort: 9090 }];

    expect(await patch('service/api-pods', 'merge', { spec: { ports } })).toBe(`${folder}/api/services.yaml
-  ports: [{name: metrics, port: 9090, protocol: TCP, targetPort: 9090}]
+  ports: [{name: metrics, port: 9091, protocol: TCP, targetPort: 9090}]
`);
  });

  it('ConfigMap: one line of a long literal', async () => {
    const editor = { KUBE_EDITOR: `sed -i 's/press = slow/press = gentle/'` };

    expect(await edit(['edit', 'configmap/settings'], { env: editor })).toBe(`${folder}/config/settings.yaml
-    press = slow
+    press = gentle
`);
  });

  it('ConfigMap: a quoted word stays quoted, and what is behind it stays behind it', async () => {
    expect(await patch('configmap/settings', 'merge', { data: { enabled: 'no', port: '9090' } }))
      .toBe(`${folder}/config/settings.yaml
-  enabled: "yes"      # quoted: a ConfigMap holds strings
-  port: '8080'
+  enabled: "no"      # quoted: a ConfigMap holds strings
+  port: '9090'
`);
  });

  it('ConfigMap: a file from another system keeps its byte order mark and its line ends', async () => {
    expect(await patch('configmap/windows', 'merge', { data: { greeting: 'hi', later: 'see you' } }))
      .toBe(`${folder}/config/windows.yaml
-  greeting: hello # in English\r
+  greeting: hi # in English\r
+  later: see you\r
`);
    expect(await repository.showFile('main', `${folder}/config/windows.yaml`)).toMatch(/^\uFEFF# Edited/);
  });

  it('ConfigMap: JSON stays JSON', async () => {
    expect(await patch('configmap/flags', 'merge', { data: { 'dark-mode': 'on', limit: null } }))
      .toBe(`${folder}/config/flags.yaml
-    "dark-mode": "off",
-    "limit": "10"
+    "dark-mode": "on"
`);
  });

  it('a custom object: its own steps of four, its flow style, its comments', async () => {
    const branches = [
      { name: 'north', fruit: 14 },
      { name: 'south', fruit: 40 },
    ];

    expect(await patch('tree/pear', 'merge', { spec: { branches, height: 4.25 } })).toBe(`${folder}/trees/trees.yaml
-    height: 4.0      # metres
+    height: 4.25      # metres
-        fruit: 12    # counted in May
+        fruit: 14    # counted in May
`);
    expect(await patch('tree/old-oak', 'merge', { spec: { rings: [3, 2, 4, 5] } })).toBe(`${folder}/trees/trees.yaml
-spec: {height: 21.5, planted: 1890, rings: [3, 2, 4]}
+spec: {height: 21.5, planted: 1890, rings: [3, 2, 4, 5]}
`);
  });

  it('HelmRelease: the chart version and one value; the values file is never written', async () => {
    expect(
      await patch('helmrelease/press', 'json', [
        { op: 'replace', path: '/spec/chart/spec/version', value: '2.2.0' },
        { op: 'replace', path: '/spec/values/motor/speed', value: 'fast' },
        { op: 'replace', path: '/spec/values/barrels/1/size', value: 90 },
      ]),
    ).toBe(`${folder}/charts/press.yaml
-      version: 2.1.0   # pinned until 3.0 is out
+      version: 2.2.0   # pinned until 3.0 is out
-    motor: {speed: slow, "on": true}
+    motor: {speed: fast, "on": true}
-      - size: 60
+      - size: 90
`);
  });

  it('HelmRelease: an edit through an older version of the API writes the version Git names', async () => {
    const through = 'helmreleases.v2beta2.helm.toolkit.fluxcd.io/press';

    expect(await patch(through, 'merge', { spec: { interval: '15m' } })).toBe(`${folder}/charts/press.yaml
-  interval: 10m
+  interval: 15m
`);
  });

  it('a new object gets a file beside its siblings', async () => {
    expect(await edit(['create', 'configmap', 'cellar', '--from-literal=on=yes'])).toBe(`${folder}/config/cellar.yaml
+apiVersion: v1
+kind: ConfigMap
+metadata:
+  name: cellar
+  namespace: ${namespace}
+data:
+  "on": "yes"
`);
  });

  it('a deleted object takes its document and its comment along; its neighbours in the file stay', async () => {
    expect(await edit(['delete', 'configmap/harvest'])).toBe(`${folder}/config/settings.yaml
-# Going away after the harvest.
-apiVersion: v1
-kind: ConfigMap
-metadata:
-  name: harvest
-  namespace: ${namespace}
-data:
-  until: "2026-11-30"
----
`);
  });

  it('somebody else edits the same file between two edits: both stay', async () => {
    const path = `${folder}/config/settings.yaml`;
    const text = (await repository.showFile('main', path)) ?? '';
    await repository.commitFiles('main', {
      [path]: text.replace('# What the API reads', '# Everything the API reads'),
    });
    await commits.skip();

    expect(await patch('configmap/panels', 'merge', { data: { 'panels.json': '{"rows": [1, 2, 3]}' } })).toBe(`${path}
-  panels.json: '{"rows": [1, 2]}'
+  panels.json: '{"rows": [1, 2, 3]}'
`);
    expect(await repository.showFile('main', path)).toMatch(/^# Everything the API reads/);
  });

  it('a deleted object that was alone takes its file along', async () => {
    expect(await edit(['delete', 'helmrelease/press'])).toMatch(new RegExp(`^${folder}/charts/press.yaml\n(-.*\n)+$`));
  });

  it('a values file that nobody names any more must be cared for: nothing is written until it is', async () => {
    const path = `${folder}/config/settings.yaml`;
    await repository.commitFiles('main', { 'README.md': 'Described anew.\n' });
    await kubectl.run(['label', 'configmap/panels', '-n', namespace, 'room=cellar']);
    const refused = await stage.waitForCondition(namespace, 'gittarget/live', 'GitPathAccepted', { status: 'False' });
    const values = `${folder}/charts/press-values.yaml`;
    const repaired = await repository.commitFiles('main', { [values]: null });
    const recovery = await commits.readUntil('the edit that was missed', async () =>
      ((await repository.showFile('main', path)) ?? '').includes('room: cellar'),
    );

    expect(refused.message).toMatch(/^charts\/press-values\.yaml: .*remove it or name it in \.gittargetignore$/);
    expect(recovery.at(-1)?.parents).toEqual([repaired]);
    expect(await repository.diff('main', repaired)).toBe(`${path}
+  labels:
+    room: cellar
`);
  });

  it('at the end cluster and folder agree: whoever applies it changes nothing, and the analyzer still accepts it', async () => {
    const meaning =
      '-o=jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.labels} {.spec} {.data}{"\\n"}{end}';
    const live = (): Promise<string> =>
      kubectl.run(['get', 'configmaps,deployments,services,trees', '-n', namespace, meaning]);
    const before = await live();
    for (const text of manifestsOf(Object.fromEntries(await repository.readTree('main')))) await kubectl.apply(text);
    await resync();
    const clone = await cloneInto(`${stage.dir}/after`, repository);

    expect(await live()).toBe(before);
    expect(await commits.unread()).toEqual([]);
    expect(await refusalsOf(`${clone}/${folder}`)).toEqual({ code: 0, issues: [] });
  });
});

/** What is applied of a repository. */
const manifestsOf = (files: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(files)
    .filter(([path]) => path.endsWith('.yaml') && !/values|pipeline/.test(path))
    .map(([, text]) => text);
