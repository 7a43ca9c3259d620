import type { GitRepository, Kubectl } from '@gitops-reverser/e2e-harness';

import { configMap, credentials, customResourceDefinition, declaration, kubeProvider } from './objects.js';
import { applyCrds, CommitReader, openStage, story } from './stage.js';
import type { Stage } from './stage.js';

const bot = { user: 'reverser-bot', password: 'canary-password', may: 'write' } as const;

const before = (namespace: string): string => `
${configMap(namespace, 'press', 'run.sh: "#!/bin/sh\\nexec press --all\\n"', '  labels: {tier: "01"}\n')}
---
${configMap(namespace, 'kube-root-ca.crt', 'ca.crt: injected')}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: ${namespace}}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: api, image: "example.com/api:1"}]}
`;

const rules = [
  '{apiGroups: [""], resources: [configmaps, services]}',
  '{apiGroups: [apps], resources: [deployments]}',
  '{apiGroups: [fruit.example.com], resources: [presses]}',
];

// Each step builds on the one before: a story, not a set of cases.
story('quick start: edits through the Kubernetes API become commits', () => {
  let stage: Stage;
  let kubectl: Kubectl;
  let app: GitRepository;
  let commits: CommitReader;
  let namespace: string;
  let file: (path: string) => Promise<string | undefined>;

  /** One edit, and the commits until the file is as wanted. */
  const settle = async (path: string, isAsWanted: (text: string | undefined) => boolean) =>
    await commits.readUntil(path, async (unread) => unread.length > 0 && isAsWanted(await file(path)));

  beforeAll(async () => {
    stage = await openStage('quick-start');
    kubectl = stage.kubectl;
    namespace = await stage.createNamespace('orchard');
    app = await stage.host.createRepository('orchard/cluster-state', {
      files: { 'README.md': 'Our cluster.\n' },
      access: { anonymous: 'none', accounts: [bot] },
    });
    commits = new CommitReader(app, 'main');
    await commits.skip();
    file = (path) => app.showFile('main', `live-cluster/${namespace}/${path}`);
    await applyCrds(kubectl);
    await kubectl.apply(customResourceDefinition('presses', 'Press'));
    await kubectl.run(['wait', '--for=condition=Established', '--timeout=30s', 'crd/presses.fruit.example.com']);
    stage.cleanUpWith('delete', 'crd', 'presses.fruit.example.com');
    await kubectl.apply(before(namespace));
    await stage.startOperator();
  }, 120_000);
  afterAll(() => stage[Symbol.asyncDispose]());
  afterEach(() => app.fsck());

  it('becomes Ready, object by object, as kubectl wait sees it', async () => {
    const provider = stage.suffix === '' ? 'default' : namespace;
    await kubectl.apply(kubeProvider(provider, `{namespaces: {names: [${namespace}]}}`));
    await kubectl.apply(credentials(namespace, bot));
    const url = stage.host.urlOf('orchard/cluster-state');
    await kubectl.apply(
      declaration({
        namespace,
        kubeProvider: provider,
        url,
        secretRef: 'git-creds',
        grant: '{branches: [main]}',
        rules,
      }),
    );
    stage.cleanUpWith('delete', 'kubeprovider', provider);

    await stage.waitUntilReady(
      namespace,
      `kubeprovider/${provider}`,
      'gitprovider/home',
      'gitbranch/main',
      'gittarget/live',
      'watchrule/basics',
    );

    const table = await kubectl.run(['get', 'gitops-reverser', '-n', namespace]);
    expect(table).toContain('gittarget.configbutler.ai/live');
  });

  it('writes what was there before, in the canonical place and the one style', async () => {
    await settle('apps/deployments/api.yaml', (text) => text !== undefined);
    await settleFiles(['configmaps/press.yaml']);

    expect(await file('configmaps/press.yaml')).toBe(`apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    tier: "01"
  name: press
  namespace: ${namespace}
data:
  run.sh: |
    #!/bin/sh
    exec press --all
`);
    const deployment = await file('apps/deployments/api.yaml');
    expect(deployment).toContain('replicas: 2');
    expect(deployment).not.toMatch(/status:|uid:|resourceVersion:|managedFields:|last-applied-configuration/);
  });

  it('leaves alone what is not ours and what nobody authored', async () => {
    expect(await app.showFile('main', 'README.md')).toBe('Our cluster.\n');
    expect(await file('configmaps/kube-root-ca.crt.yaml')).toBeUndefined();
    expect(await app.listFiles('main')).toEqual([
      'README.md',
      'live-cluster/.gittargetignore',
      'live-cluster/README.md',
      `live-cluster/${namespace}/apps/deployments/api.yaml`,
      `live-cluster/${namespace}/configmaps/press.yaml`,
    ]);
  });

  it('commits as the committer, with a message that tells what was reconciled', async () => {
    const [newest] = await app.log('main');

    expect(newest?.author).toMatchObject({ name: 'GitOps Reverser', email: 'noreply@configbutler.ai' });
    expect(newest?.committer).toMatchObject({ name: 'GitOps Reverser', email: 'noreply@configbutler.ai' });
    expect(newest?.subject).toMatch(/^chore: reconcile \d+ /);
  });

  it('turns a create into one commit that names the object', async () => {
    await kubectl.run(['create', 'configmap', 'hello', '-n', namespace, '--from-literal=a=b']);

    const created = await settle('configmaps/hello.yaml', (text) => text !== undefined);

    expect(created.map(({ subject, body, files }) => ({ subject, body, files }))).toEqual([
      {
        subject: 'chore: sync 1 resource(s)',
        body: `- [CREATE] v1/configmaps/${namespace}/hello`,
        files: [{ change: 'A', path: `live-cluster/${namespace}/configmaps/hello.yaml` }],
      },
    ]);
    expect(await file('configmaps/hello.yaml')).toBe(`apiVersion: v1
kind: ConfigMap
metadata:
  name: hello
  namespace: ${namespace}
data:
  a: b
`);
  });

  it('turns an update into a commit of that one file', async () => {
    await kubectl.run([
      'patch',
      'configmap',
      'hello',
      '-n',
      namespace,
      '--type=merge',
      '-p',
      '{"data":{"a":"c","n":"1"}}',
    ]);

    const updated = await settle('configmaps/hello.yaml', (text) => text?.includes('a: c') === true);

    expect(updated.map(({ body, files }) => ({ body, files }))).toEqual([
      {
        body: `- [UPDATE] v1/configmaps/${namespace}/hello`,
        files: [{ change: 'M', path: `live-cluster/${namespace}/configmaps/hello.yaml` }],
      },
    ]);
    expect(await file('configmaps/hello.yaml')).toContain('data:\n  a: c\n  "n": "1"\n');
  });

  it('gathers edits in quick succession into one commit', async () => {
    await kubectl.apply([1, 2, 3].map((n) => configMap(namespace, `batch-${n}`, `n: "${n}"`)).join('---'));

    const batch = await settle('configmaps/batch-3.yaml', (text) => text !== undefined);

    expect(batch.map(({ subject }) => subject)).toEqual(['chore: sync 3 resource(s)']);
  });

  it('scales a Deployment', async () => {
    await kubectl.run(['scale', 'deployment', 'api', '-n', namespace, '--replicas=5']);

    const scaled = await settle('apps/deployments/api.yaml', (text) => text?.includes('replicas: 5') === true);

    expect(scaled).toHaveLength(1);
  });

  it('commits nothing for a change that nobody means: status, managed fields, stripped annotations', async () => {
    await kubectl.run(['annotate', 'configmap', 'hello', '-n', namespace, 'kubectl.kubernetes.io/noise=1']);
    const status = { status: { replicas: 5, observedGeneration: 2 } };
    await kubectl.run([
      'patch',
      'deployment',
      'api',
      '-n',
      namespace,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify(status),
    ]);
    await kubectl.run(['label', 'configmap', 'hello', '-n', namespace, 'after=noise']);

    const labelled = await settle('configmaps/hello.yaml', (text) => text?.includes('after: noise') === true);

    expect(labelled.map(({ files }) => files.map(({ path }) => path))).toEqual([
      [`live-cluster/${namespace}/configmaps/hello.yaml`],
    ]);
    expect(await file('configmaps/hello.yaml')).not.toContain('kubectl.kubernetes.io/noise');
  });

  it('writes a custom resource with every digit it has', async () => {
    await kubectl.apply(`
apiVersion: fruit.example.com/v1
kind: Press
metadata: {name: cider, namespace: ${namespace}}
spec: {litres: 9007199254740993, sizes: ["- 1: small"], "on": "yes", notes: []}
`);

    await settle('fruit.example.com/presses/cider.yaml', (text) => text !== undefined);

    expect(await file('fruit.example.com/presses/cider.yaml')).toBe(`apiVersion: fruit.example.com/v1
kind: Press
metadata:
  name: cider
  namespace: ${namespace}
spec:
  litres: 9007199254740993
  notes: []
  "on": "yes"
  sizes:
    - '- 1: small'
`);
  });

  it('builds on a foreign push between two edits', async () => {
    const foreign = await app.commitFiles('main', {
      'README.md': 'Our cluster, described.\n',
      'docs/why.md': 'Because.\n',
    });
    await kubectl.run(['patch', 'configmap', 'hello', '-n', namespace, '--type=merge', '-p', '{"data":{"a":"d"}}']);

    const both = await settle('configmaps/hello.yaml', (text) => text?.includes('a: d') === true);

    expect(both.map(({ sha }) => sha)[0]).toBe(foreign);
    expect(both[1]?.parents).toEqual([foreign]);
    expect(both).toHaveLength(2);
    expect(await app.showFile('main', 'README.md')).toBe('Our cluster, described.\n');
  });

  it('replays its commit when somebody pushes while the push is under way', async () => {
    const held = await stage.host.inject({ kind: 'hold', at: 'request' }, { on: 'push' });
    await kubectl.run(['patch', 'configmap', 'hello', '-n', namespace, '--type=merge', '-p', '{"data":{"a":"e"}}']);
    await held.reached;
    const foreign = await app.commitFiles('main', { 'docs/race.md': 'First.\n' });
    held.release();

    const both = await settle('configmaps/hello.yaml', (text) => text?.includes('a: e') === true);

    expect(both.map(({ sha, parents }) => ({ isForeign: sha === foreign, parents }))).toEqual([
      { isForeign: true, parents: expect.anything() as unknown },
      { isForeign: false, parents: [foreign] },
    ]);
  });

  it('removes the file of a deleted object', async () => {
    await kubectl.run(['delete', 'configmap', 'batch-2', '-n', namespace]);

    const deleted = await settle('configmaps/batch-2.yaml', (text) => text === undefined);

    expect(deleted.map(({ body, files }) => ({ body, files }))).toEqual([
      {
        body: `- [DELETE] v1/configmaps/${namespace}/batch-2`,
        files: [{ change: 'D', path: `live-cluster/${namespace}/configmaps/batch-2.yaml` }],
      },
    ]);
  });

  it('publishes what it holds when it is stopped, and starts again', async () => {
    const window = (idleTimeout: string, maxDuration: string) =>
      kubectl.run([
        ...['patch', 'gittarget', 'live', '-n', namespace, '--type=merge', '-p'],
        JSON.stringify({ spec: { commit: { window: { idleTimeout, maxDuration } } } }),
      ]);
    await window('5m', '10m');
    await stage.waitUntilReady(namespace, 'gittarget/live');
    await kubectl.run(['patch', 'configmap', 'hello', '-n', namespace, '--type=merge', '-p', '{"data":{"n":"2"}}']);
    await stage.operator.process.waitFor('an open window', async () =>
      /^gitopsreverser_git_retained_bytes\{[^}]*\} [1-9]/m.test(await stage.operator.metrics()),
    );
    const before = await commits.unread();

    const exit = await stage.operator.stop();
    const published = await commits.unread();

    expect(before).toEqual([]);
    expect(exit).toEqual({ code: 0, signal: null });
    expect(published.map(({ body }) => body)).toEqual([`- [UPDATE] v1/configmaps/${namespace}/hello`]);
    expect(await file('configmaps/hello.yaml')).toContain('"n": "2"');
    await commits.skip();
    await window('1s', '10s');
    await stage.startOperator();
  });

  it('stops politely, and after a restart catches up with what happened meanwhile and nothing else', async () => {
    const exit = await stage.operator.stop();
    await kubectl.run(['patch', 'configmap', 'hello', '-n', namespace, '--type=merge', '-p', '{"data":{"a":"f"}}']);

    await stage.startOperator();
    const caughtUp = await settle('configmaps/hello.yaml', (text) => text?.includes('a: f') === true);

    expect(exit).toEqual({ code: 0, signal: null });
    expect(caughtUp.flatMap(({ files }) => files)).toEqual([
      { change: 'M', path: `live-cluster/${namespace}/configmaps/hello.yaml` },
    ]);
  });

  it.each([
    ['before the host has moved the ref', 'request', 'g'],
    ['after the host has moved the ref, before the answer', 'answer', 'h'],
  ] as const)('loses and doubles nothing when it is killed during a push, %s', async (_, at, value) => {
    const held = await stage.host.inject({ kind: 'hold', at }, { on: 'push' });
    await kubectl.run([
      'patch',
      'configmap',
      'hello',
      '-n',
      namespace,
      '--type=merge',
      '-p',
      `{"data":{"a":"${value}"}}`,
    ]);
    await held.reached;
    await stage.operator.kill();
    held.remove();

    await stage.startOperator();
    const landed = await settle('configmaps/hello.yaml', (text) => text?.includes(`a: ${value}`) === true);
    await kubectl.run(['label', 'configmap', 'hello', '-n', namespace, '--overwrite', `after=kill-${value}`]);
    const next = await settle('configmaps/hello.yaml', (text) => text?.includes(`after: kill-${value}`) === true);

    expect(landed).toHaveLength(1);
    expect(next.flatMap(({ files }) => files)).toEqual([
      { change: 'M', path: `live-cluster/${namespace}/configmaps/hello.yaml` },
    ]);
  });

  it('goes on after the API server has forgotten every version it knew', async () => {
    if (stage.cluster.plane === undefined) return;
    await stage.cluster.plane.stopApiServer();
    await stage.cluster.plane.startApiServer();
    await kubectl.run(['patch', 'configmap', 'hello', '-n', namespace, '--type=merge', '-p', '{"data":{"a":"i"}}']);

    const landed = await settle('configmaps/hello.yaml', (text) => text?.includes('a: i') === true);

    expect(landed.flatMap(({ files }) => files)).toEqual([
      { change: 'M', path: `live-cluster/${namespace}/configmaps/hello.yaml` },
    ]);
  });

  it('never asked with force, never logged a credential, and is Ready at the end', async () => {
    await stage.waitUntilReady(namespace, 'gitprovider/home', 'gitbranch/main', 'gittarget/live', 'watchrule/basics');

    expect(await stage.operatorLog()).not.toContain(bot.password);
    expect((await app.log('main')).every(({ parents }) => parents.length <= 1)).toBe(true);
  });

  async function settleFiles(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if ((await file(path)) === undefined) await settle(path, (text) => text !== undefined);
    }
    await commits.skip();
  }
});
