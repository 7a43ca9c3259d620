import { poll } from '@gitops-reverser/e2e-harness';
import { declareCluster, openStage, type Stage, type Team } from './operator.fixture.js';

interface EventObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involvedObject: { readonly kind: string; readonly namespace: string; readonly name: string };
}

describe('what the operator tells about single documents and whole folders', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
    declareCluster(stage);
    stage.start();
    await stage.untilReady();
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose](), 30_000);

  const eventsOf = (team: Team, reason: string): readonly EventObject[] =>
    (stage.cluster.list('v1', 'Event') as unknown as readonly EventObject[]).filter(
      (event) => event.involvedObject.namespace === team.name && event.reason === reason,
    );
  /** The last declaration of its target was read. */
  const isSeen = (team: Team): boolean => {
    const { metadata, status } = stage.cluster.get('configbutler.ai/v1alpha3', 'GitTarget', 'live', team.name) as {
      readonly metadata?: { readonly generation?: number };
      readonly status?: { readonly observedGeneration?: number };
    };
    return metadata?.generation === status?.observedGeneration;
  };
  const placement = (team: Team): unknown => {
    const target = stage.cluster.get('configbutler.ai/v1alpha3', 'GitTarget', 'live', team.name);
    return (target?.['status'] as { readonly placement?: unknown } | undefined)?.placement;
  };

  it('FC-YML-9, 20, 6.1: an anchored document keeps its bytes, the target stays ready, and an Event names it once', async () => {
    const anchored = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: anch, namespace: anchors}\ndata:\n  a: &v "1"\n  b: *v\n`;
    const made = await stage.team('anchors', { files: { 'live/anchors/anch.yaml': anchored } });
    made.configMap('anch', { a: '1', b: '2' });
    made.configMap('plain', { a: 'one' });
    made.declare();
    await made.lands('plain.yaml', 'one');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');
    await poll(() => eventsOf(made, 'DocumentSkipped')[0], { deadlineMs: 10_000, what: 'the Event' });
    made.configMap('anch', { a: '1', b: '3' });
    made.configMap('plain', { a: 'two' });
    await poll(
      async () => (await made.repository.log('main')).some(({ subject }) => subject.includes('sync 1 resource')),
      { deadlineMs: 20_000, what: 'the live edit' },
    );

    const accepted = await made.reads('GitTarget/live', 'GitPathAccepted', 'True Succeeded');
    expect(await made.file('anch.yaml')).toBe(anchored);
    expect(eventsOf(made, 'DocumentSkipped')).toMatchObject([
      { type: 'Warning', count: 1, message: expect.stringMatching(/^anchors\/anch\.yaml, document 0: non-editable: /) },
    ]);
    expect(accepted.message).toContain('one document is left as found: ConfigMap anchors/anch');
    expect(placement(made)).toMatchObject({
      mode: 'Plain',
      resolvedAtCommit: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      resolvedAt: expect.stringMatching(/Z$/) as string,
    });
  }, 60_000);

  it('7.7: a second source namespace refuses the target and names the rules, until its rule is gone', async () => {
    const made = await stage.team('single');
    made.configMap('press', { a: 'one' });
    made.declare({ target: { serializeNamespace: false } });
    await made.lands('configmaps/press.yaml', 'one');
    const written = await made.file('configmaps/press.yaml');

    made.apply('WatchRule', 'more', {
      spec: {
        gitTargetRef: { name: 'live' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], sourceNamespace: 'elsewhere' }],
      },
    });
    const refused = await made.reads('GitTarget/live', 'GitPathAccepted', 'False MultipleSourceNamespaces');
    made.configMap('press', { a: 'two' });
    stage.cluster.delete('configbutler.ai/v1alpha3', 'WatchRule', 'more', 'single');
    await made.lands('configmaps/press.yaml', 'two');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');

    expect(written).not.toContain('namespace:');
    expect(refused.message).toContain('elsewhere (WatchRule single/more)');
    expect(refused.message).toContain('single (GitTarget single/live, WatchRule single/basics)');
  }, 60_000);

  it('a folder that Kustomize builds says that no layout knows it, and is resolved to nothing', async () => {
    const made = await stage.team('kustomized', { files: { 'live/kustomization.yaml': 'resources: []\n' } });
    made.configMap('press', { a: 'one' });
    made.declare();

    const refused = await made.reads('GitTarget/live', 'GitPathAccepted', 'False UnsupportedContent');
    const layout = await made.reads('GitTarget/live', 'LayoutResolved', 'Unknown NotScanned');

    expect(refused.message).toContain('kustomization.yaml is built with Kustomize');
    expect(refused.message).toContain('load the plugin that knows it');
    expect(layout.message).toContain('no layout stands for the folder');
    expect(placement(made)).toBeUndefined();
    expect(await made.repository.log('main')).toHaveLength(1);
  }, 60_000);

  it('FC-SAN-6: what an annotation repeats of a Secret is nowhere to be read, whatever is written of it', async () => {
    const [clear, coded] = ['blue-heron-42', Buffer.from('blue-heron-42').toString('base64')];
    const applied = { apiVersion: 'v1', kind: 'Secret', stringData: { pw: clear } };
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(applied) };
    const made = await stage.team('repeated');
    made.apply('Secret', 'login', { data: { pw: coded } }, 'v1', { annotations });
    made.configMap('login', { a: 'one' }, annotations);
    made.declare({ rules: [{ apiGroups: [''], resources: ['configmaps', 'secrets'] }] });
    await made.lands('configmaps/login.yaml', 'one');
    const refused = await made.reads('WatchRule/basics', 'ResourcesResolved', 'False ResourceRefused');
    made.apply('Secret', 'login', { data: { pw: coded, more: coded } }, 'v1', { annotations });
    made.configMap('login', { a: 'two' }, annotations);
    await made.lands('configmaps/login.yaml', 'two');

    const told = JSON.stringify([
      ...['GitTarget', 'WatchRule', 'GitBranch'].map((kind) => stage.cluster.list('configbutler.ai/v1alpha3', kind)),
      stage.cluster.list('v1', 'Event'),
      await made.repository.log('main'),
    ]);
    const committed = (await made.file('configmaps/login.yaml')) ?? '';
    expect(refused.message).toContain('secrets is sensitive');
    for (const text of [clear, coded]) expect(committed + told + stage.logger.text()).not.toContain(text);
  }, 60_000);

  it('FC-SAN-8: the CA every namespace gets is one file less and no commit, until a target asks for it', async () => {
    const made = await stage.team('shop');
    made.configMap('kube-root-ca.crt', { 'ca.crt': 'first' });
    made.configMap('settings', { a: 'one' });
    made.declare();
    await made.lands('configmaps/settings.yaml', 'one');
    await made.reads('GitTarget/live', 'Ready', 'True Succeeded');
    const before = await made.repository.log('main');

    made.configMap('kube-root-ca.crt', { 'ca.crt': 'second' });
    made.configMap('settings', { a: 'two' });
    await made.lands('configmaps/settings.yaml', 'two');

    expect(await made.repository.log('main')).toHaveLength(before.length + 1);
    expect(await made.file('configmaps/kube-root-ca.crt.yaml')).toBeUndefined();
    made.declare({ target: { includeGenerated: ['kube-root-ca'] } });
    await made.lands('configmaps/kube-root-ca.crt.yaml', 'second');
    made.declare({ target: { includeGenerated: [] } });
    await poll(() => isSeen(made), { deadlineMs: 10_000, what: 'the declaration to be seen' });
    made.configMap('kube-root-ca.crt', { 'ca.crt': 'third' });
    made.configMap('settings', { a: 'three' });
    await made.lands('configmaps/settings.yaml', 'three');
    // What stands in Git already goes by the prune policy alone, and that of the target keeps what is merely absent.
    expect(await made.file('configmaps/kube-root-ca.crt.yaml')).toContain('second');
  }, 60_000);
});
