import type { Refusal, StreamStatus } from '@gitops-reverser/kernel-api';
import { conditionTable } from '../testing/condition-table.fixture.js';
import { surfaceOf } from '../testing/fake-runtime.fixture.js';
import type { World } from '../testing/world.fixture.js';

const folder = (reason: string, ...codes: readonly string[]) => ({
  row: `GitPathAccepted False ${reason}`,
  why: `the layout refused the folder: ${codes.join(', ')}`,
  level: 'stalled' as const,
  says: ['live/a.txt', codes.length > 1 ? 'and 1 more' : ''],
  when: (world: World) => {
    const refusals = codes.map((code, index): Refusal => ({ code, path: 'a.txt', message: `live/a.txt: ${index}` }));
    world.target().say({ folder: { state: 'Refused', refusals } });
  },
});
const object = (reason: string, ...codes: readonly string[]) => ({
  row: `GitPathAccepted False ${reason}`,
  why: `single objects were refused: ${codes.join(', ')}`,
  level: 'stalled' as const,
  // What decides comes first, whatever else there is.
  says: [`live/${codes.length - 1}`, codes.length > 1 ? `and ${codes.length - 1} more` : ''],
  when: (world: World) =>
    world.target().say({
      refused: codes.map((code, at) => ({ code, message: `live/${at}: ${code}`, since: world.clock.now() })),
    }),
});
const streams = (
  status: string,
  reason: string,
  level: 'stalled' | 'progress',
  change: (world: World) => Partial<StreamStatus>,
) => ({
  row: `StreamsRunning ${status} ${reason}`,
  why: 'as the streams say',
  level,
  says: reason === 'Replaying' ? ['2 of 2 stream(s)'] : ['configmaps', 'and 1 more'],
  when: (world: World) => world.target().stream(change(world)),
});
const trouble = (reason: 'WatchError' | 'WatchNotPermitted' | 'ExpiredResourceVersion', ageMs = 0) => ({
  status: 'False',
  change: (world: World) => ({
    state: 'Blocked' as const,
    trouble: {
      reason,
      message: `configmaps in namespace shop: ${reason}`,
      since: new Date(world.clock.now().getTime() - ageMs),
    },
  }),
});
const byLabel = [{ namespaces: { selector: { matchLabels: { tier: 'tenant' } } } }];
const away = (reason: string, level: 'stalled' | 'progress') => ({
  row: `SourceClusterReachable False ${reason}`,
  why: 'mirrored from the cluster',
  level,
  decidedBy: 'KubeProviderNotReady',
  says: ['no answer'],
  given: (world: World) => {
    world.runtime.surface = surfaceOf({ reach: { state: 'unreachable', reason, message: 'no answer' } });
  },
});

conditionTable(
  'GitTarget',
  [
    { row: 'Validated True Succeeded', why: 'the quick start', level: 'ok', says: ['can be used'] },
    {
      row: 'Validated False GitBranchNotFound',
      why: 'no branch',
      level: 'stalled',
      says: ['spec.gitBranchRef', 'GitBranch shop/main', 'does not exist', 'create it'],
      given: (world) => world.cluster.remove('GitBranch', 'shop/main'),
    },
    {
      row: 'Validated False KubeProviderNotFound',
      why: 'the default reference names nothing',
      level: 'stalled',
      says: ['spec.kubeProviderRef', 'KubeProvider default', 'create it'],
      given: (world) => world.cluster.remove('KubeProvider', 'default'),
    },
    {
      row: 'Validated False TargetConflict',
      why: 'a folder inside the folder of an older target',
      level: 'stalled',
      of: 'shop/younger',
      says: ['spec.path', 'live/inner', 'folder live', 'older GitTarget shop/live', 'do not contain each other'],
      given: (world) =>
        world.declare(
          'GitTarget',
          'shop/younger',
          { gitBranchRef: { name: 'main' }, path: 'live/inner' },
          { creationTimestamp: '2026-01-02T00:00:00Z' },
        ),
    },
    {
      row: 'Validated False InvalidConfig',
      why: 'never had a valid configuration: it writes nothing',
      level: 'stalled',
      says: ['spec.commit.message.liveTemplate', 'line 1', 'and 1 more'],
      given: (world) => {
        world.problems = () => ['spec.commit.message.liveTemplate line 1: no such field', 'another'];
      },
    },
    {
      row: 'Validated False InvalidConfig',
      why: '4.2: a working target goes on under the old wording',
      level: 'stalled',
      says: ['liveTemplate', 'the last valid configuration stays in force'],
      when: (world) => {
        world.problems = ({ messages }) =>
          messages.live === undefined ? [] : ['spec.commit.message.liveTemplate: bad'];
        world.amend('GitTarget', { commit: { message: { liveTemplate: '{{ .Nothing }}' } } });
      },
    },
    {
      row: 'Validated False InvalidGeneratedFilter',
      why: 'an id nobody knows',
      level: 'stalled',
      says: ['spec.includeGenerated', 'nothing', 'kube-root-ca and *'],
      given: (world) => world.amend('GitTarget', { includeGenerated: ['nothing'] }),
    },
    {
      row: 'Validated False InvalidGeneratedFilter',
      why: 'an id that is on by default cannot be switched on again',
      level: 'stalled',
      says: ['spec.excludeGenerated', 'kube-root-ca', 'helm-releases'],
      given: (world) => world.amend('GitTarget', { excludeGenerated: ['kube-root-ca'] }),
    },
    {
      row: 'Validated False InvalidGeneratedFilter',
      why: '4.6: a working target stops: only a template or a placement leaves it as it was',
      level: 'stalled',
      says: ['spec.includeGenerated', 'nothing'],
      when: async (world) => {
        world.amend('GitTarget', { includeGenerated: ['nothing'] });
        await world.settle();
        if (world.runtime.targets.size > 0) throw new Error('the target is open');
      },
    },
    {
      row: 'Validated False InvalidSpec',
      why: 'a path that climbs out, stored before the rule existed',
      level: 'stalled',
      says: ['spec.path'],
      given: (world) => world.amend('GitTarget', { path: '../elsewhere' }),
    },
    {
      row: 'Validated False InvalidSpec',
      why: "a path into Git's own folder, stored before the rule existed",
      level: 'stalled',
      says: ['spec.path'],
      given: (world) => world.amend('GitTarget', { path: 'live/.git/hooks' }),
    },
    {
      row: 'Validated False RetiredField',
      why: 'the branch of an earlier release',
      level: 'stalled',
      says: ['spec.branch', 'spec.gitBranchRef'],
      given: (world) => world.amend('GitTarget', { branch: 'main' }),
    },
    {
      row: 'Validated False PluginUnavailable',
      why: 'PL-4: an encryption provider nobody serves',
      level: 'stalled',
      says: ['spec.encryption.provider', 'sops', 'none is loaded', '@gitops-reverser/plugin-sops'],
      given: (world) =>
        world.amend('GitTarget', { encryption: { provider: 'sops', age: { recipients: { publicKeys: [] } } } }),
    },
    { row: 'TargetAllowed True Granted', why: 'both lenders admit it', level: 'ok', says: ['admitted'] },
    {
      row: 'TargetAllowed False NotAllowed',
      why: 'the branch does not admit the folder',
      level: 'stalled',
      says: ['GitBranch shop/main', 'folder live', 'paths', '{paths: [live]}'],
      given: (world) => world.amend('GitBranch', { allowedGitTargets: [{ paths: ['other'] }] }),
    },
    {
      row: 'TargetAllowed False NotAllowed',
      why: 'the cluster does not admit the namespace; AZ-6: a branch is not a cluster',
      level: 'stalled',
      says: ['KubeProvider default', 'namespace shop', '{namespaces: {names: [shop]}}'],
      given: (world) => world.amend('KubeProvider', { allowedGitTargets: [{ namespaces: { names: ['another'] } }] }),
    },
    {
      row: 'TargetAllowed Unknown GrantUnreadable',
      why: 'never granted',
      level: 'progress',
      says: ['KubeProvider default', 'Namespace shop', 'timeout'],
      given: (world) => {
        world.amend('KubeProvider', { allowedGitTargets: byLabel });
        world.cluster.namespaceTrouble = 'timeout';
      },
    },
    {
      row: 'TargetAllowed Unknown GrantUnreadable',
      why: '12.2: granted before: streams keep running',
      level: 'none',
      says: ['the last decision stands'],
      given: (world) => world.amend('KubeProvider', { allowedGitTargets: byLabel }),
      when: (world) => {
        world.cluster.namespaceTrouble = 'timeout';
        world.annotate('GitTarget', 'again');
        world.target().say({ resyncedToken: 'again' });
      },
    },
    { row: 'GitBranchReady True Succeeded', why: 'the quick start', level: 'ok', says: ['ready'] },
    {
      row: 'GitBranchReady False BranchNotWritable',
      why: 'pushes are refused',
      level: 'stalled',
      says: ['GitBranch shop/main', 'ProtectedBranch', 'open a pull request'],
      when: (world) =>
        world
          .branch()
          .say({ writable: { status: 'False', reason: 'ProtectedBranch', message: 'open a pull request' } }),
    },
    {
      row: 'GitBranchReady False GitBranchNotReady',
      why: 'the branch stalls',
      level: 'stalled',
      says: ['GitBranch shop/main', 'ParentBranchNotFound', 'no base'],
      when: (world) =>
        world.branch().say({ parentResolved: { status: 'False', reason: 'ParentBranchNotFound', message: 'no base' } }),
    },
    {
      row: 'GitBranchReady False GitBranchNotReady',
      why: 'the branch retries',
      level: 'progress',
      says: ['GitBranch shop/main', 'RemoteUnavailable'],
      when: (world) =>
        world
          .branch()
          .say({ publishing: { status: 'False', reason: 'RemoteUnavailable', message: 'no route to the host' } }),
    },
    {
      row: 'GitBranchReady Unknown GitBranchNotReady',
      why: 'the branch was never judged to the end',
      level: 'progress',
      says: ['GitBranch shop/main'],
      given: (world) =>
        void (world.runtime.branch = {
          parentResolved: { status: 'Unknown', reason: 'Progressing', message: 'not looked at yet' },
        }),
    },
    { row: 'KubeProviderReady True Succeeded', why: 'the quick start', level: 'ok', says: ['ready'] },
    {
      row: 'KubeProviderReady False KubeProviderNotReady',
      why: 'the connection cannot be used',
      level: 'stalled',
      says: ['KubeProvider default', 'KubeConfigSecretNotFound', 'create it'],
      given: (world) => world.amend('KubeProvider', { connection: { secretRef: { name: 'gone' } } }),
    },
    {
      row: 'KubeProviderReady Unknown KubeProviderNotReady',
      why: 'nobody looked so far',
      level: 'progress',
      says: ['KubeProvider default', 'AwaitingDiscovery'],
      given: (world) => void (world.runtime.surface = undefined),
    },
    {
      row: 'KubeProviderReady False KubeProviderNotReady',
      why: 'a cluster that went away',
      level: 'progress',
      says: ['KubeProvider default', 'SourceClusterUnreachable'],
      when: (world) =>
        world.source().say(
          surfaceOf({
            generation: 2,
            reach: { state: 'unreachable', reason: 'SourceClusterUnreachable', message: 'no answer' },
          }),
        ),
    },
    { row: 'SourceClusterReachable True LocalCluster', why: 'the quick start', level: 'ok', says: ['answered'] },
    {
      row: 'SourceClusterReachable Unknown AwaitingDiscovery',
      why: 'nobody looked so far',
      level: 'progress',
      decidedBy: 'KubeProviderNotReady',
      says: ['waiting for the first look'],
      given: (world) => void (world.runtime.surface = undefined),
    },
    {
      row: 'SourceClusterReachable True RemoteCluster',
      why: 'mirrored from the cluster',
      level: 'ok',
      says: ['answered'],
      when: (world) =>
        world.source().say(
          surfaceOf({
            generation: 2,
            reach: { state: 'reachable', reason: 'RemoteCluster', message: 'it answered' },
          }),
        ),
    },
    away('SourceClusterUnreachable', 'progress'),
    away('SourceClusterAuthenticationFailed', 'stalled'),
    away('SourceClusterAccessDenied', 'stalled'),
    { row: 'EncryptionConfigured True NotRequired', why: 'none declared', level: 'ok', says: ['refused'] },
    {
      row: 'EncryptionConfigured True Succeeded',
      why: 'a loaded writer encrypts',
      level: 'ok',
      says: ['sops'],
      given: (world) => {
        world.options = { encryptionProviders: ['sops'] };
        world.amend('GitTarget', { encryption: { provider: 'sops' } });
      },
    },
    {
      row: 'GitPathAccepted Unknown NotScanned',
      why: 'the folder was not looked at so far',
      level: 'progress',
      says: ['not been looked at'],
      when: (world) => world.target().say({ folder: { state: 'NotScanned', refusals: [] } }),
    },
    { row: 'GitPathAccepted True Succeeded', why: 'the quick start', level: 'ok', says: ['can be written'] },
    folder('UnsupportedContent', 'unsupported-file'),
    folder('UnsupportedContent', 'ambiguous-layout', 'unsupported-file'),
    folder('IgnoreShadowsManagedPath', 'ignore-shadows-managed'),
    folder('MultipleSourceNamespaces', 'multiple-source-namespaces', 'ambiguous-layout'),
    folder('AmbiguousLayout', 'ambiguous-layout'),
    folder('UnrenderedPlacement', 'unrendered-placement'),
    {
      row: 'GitPathAccepted False WriteBoundaryRefused',
      why: 'single objects were refused',
      level: 'stalled',
      says: ['live/x.yaml', 'and 1 more'],
      when: (world) =>
        world.target().say({
          refused: ['b', 'a'].map((name) => ({
            code: 'write-escapes-scope',
            message: `live/x.yaml cannot hold ${name}`,
            since: world.clock.now(),
          })),
        }),
    },
    object('AmbiguousLayout', 'write-escapes-scope', 'ambiguous-layout'),
    object('IgnoreShadowsManagedPath', 'unrendered-placement', 'write-escapes-scope', 'ignore-shadows-managed'),
    object('MultipleSourceNamespaces', 'multiple-source-namespaces'),
    object('UnrenderedPlacement', 'unplaceable-edit', 'unrendered-placement'),
    {
      row: 'GitPathAccepted True Succeeded',
      why: '20, 6.1: a skipped document blocks nothing, and is seen',
      level: 'ok',
      says: ['can be written', '2 documents are left as found', 'a.yaml holds an anchor', 'and 1 more'],
      when: (world) =>
        world.target().say({
          skipped: ['b', 'a'].map((name) => ({
            code: 'non-editable',
            path: `${name}.yaml`,
            message: `document 0 of ${name}.yaml holds an anchor`,
            since: world.clock.now(),
          })),
        }),
    },
    {
      row: 'EncryptionConfigured True NotRequired',
      why: '20, 14: plain text in Git is said and blocks nothing',
      level: 'ok',
      says: ['no encryption is declared', 'rotate it'],
      when: (world) =>
        world.target().say({
          plaintext: [{ code: 'plaintext-in-git', message: 'rotate it', since: world.clock.now(), isReplaced: false }],
        }),
    },
    {
      row: 'EncryptionConfigured True NotRequired',
      why: 'a rule selects what nobody may write',
      level: 'ok',
      says: ['no encryption is declared', 'secrets are not mirrored'],
      given: (world) =>
        world.amend('WatchRule', {
          rules: [
            { apiGroups: [''], resources: ['configmaps'] },
            { apiGroups: [''], resources: ['secrets'] },
          ],
        }),
    },
    {
      row: 'LayoutResolved Unknown NotScanned',
      why: 'it is no gate (ST-7)',
      level: 'progress',
      decidedBy: 'NotScanned',
      says: ['not been looked at'],
      when: (world) => world.target().say({ folder: { state: 'NotScanned', refusals: [] } }),
    },
    { row: 'LayoutResolved True None', why: 'a plain folder', level: 'ok', says: ['plain'] },
    {
      row: 'LayoutResolved True None',
      why: 'a plain folder that is refused is a plain folder',
      level: 'stalled',
      decidedBy: 'UnsupportedContent',
      says: ['plain'],
      when: (world) =>
        world.target().say({
          folder: {
            state: 'Refused',
            refusals: [{ code: 'foreign-file', message: 'live/a.bin' }],
            resolved: { shape: { mode: 'Plain' }, at: world.clock.now() },
          },
        }),
    },
    {
      row: 'LayoutResolved Unknown NotScanned',
      why: 'no loaded layout knows what builds the folder',
      level: 'stalled',
      decidedBy: 'UnsupportedContent',
      says: ['no layout stands for the folder', 'built with Kustomize'],
      when: (world) =>
        world.target().say({
          folder: {
            state: 'Refused',
            refusals: [{ code: 'UnsupportedContent', message: 'kustomization.yaml is built with Kustomize' }],
          },
        }),
    },
    {
      row: 'LayoutResolved True SingleKustomization',
      why: 'as a layout says that knows Kustomize',
      level: 'ok',
      says: ['Kustomize renders overlays/prod'],
      when: (world) =>
        world.target().say({
          folder: {
            state: 'Accepted',
            refusals: [],
            resolved: { shape: { mode: 'KustomizeRoot', renderRoot: 'overlays/prod' }, at: world.clock.now() },
          },
        }),
    },
    {
      row: 'LayoutResolved False Ambiguous',
      why: '7.9: existing documents are edited, placing one is refused; it is no gate (ST-7)',
      level: 'stalled',
      decidedBy: 'AmbiguousLayout',
      says: ['two render roots'],
      when: (world) =>
        world.target().say({
          refused: [{ code: 'ambiguous-layout', message: 'two render roots', since: world.clock.now() }],
        }),
    },
    { row: 'RenderMatchesLive True Succeeded', why: 'a plain folder', level: 'ok', says: ['plain'] },
    { row: 'StreamsRunning True AllStreamsReady', why: 'the quick start', level: 'ok', says: ['2 stream(s)'] },
    {
      row: 'StreamsRunning True NoResolvedTypes',
      why: 'a target no rule selects into is ready',
      level: 'ok',
      says: ['no rule'],
      given: (world) => {
        world.cluster.remove('WatchRule', 'shop/basics');
        world.cluster.remove('ClusterWatchRule', 'wide');
      },
    },
    streams('Unknown', 'Replaying', 'progress', () => ({ state: 'Replaying' })),
    streams('False', 'ExpiredResourceVersion', 'progress', trouble('ExpiredResourceVersion').change),
    streams('False', 'WatchError', 'progress', trouble('WatchError').change),
    streams('False', 'WatchError', 'stalled', trouble('WatchError', 600_000).change),
    streams('False', 'WatchNotPermitted', 'stalled', trouble('WatchNotPermitted').change),
    {
      row: 'StreamsRunning False WatchError',
      why: 'after ten minutes of progress it becomes a matter for a person, without any other change',
      level: 'stalled',
      says: ['configmaps'],
      when: async (world) => {
        world.target().stream(trouble('WatchError').change(world));
        await world.clock.advance(601_000);
      },
    },
    {
      row: 'Ready True Suspended',
      why: 'suspended on purpose is settled',
      level: 'ok',
      says: ['spec.suspend is true'],
      given: (world) => world.amend('GitTarget', { suspend: true }),
    },
  ],
  {
    'EncryptionConfigured SecretNotFound': 'keys belong to an encrypting writer, which comes with its own plugin',
    'EncryptionConfigured SecretMalformed': 'keys belong to an encrypting writer, which comes with its own plugin',
    'EncryptionConfigured SecretCreateForbidden':
      'keys belong to an encrypting writer, which comes with its own plugin',
    'EncryptionConfigured NoRecipients': 'keys belong to an encrypting writer, which comes with its own plugin',
    'EncryptionConfigured RecipientsDiverged': 'keys belong to an encrypting writer, which comes with its own plugin',
    'EncryptionConfigured InvalidConfig': 'keys belong to an encrypting writer, which comes with its own plugin',
    'RenderMatchesLive Rechecking': 'a plain folder renders to what it holds',
    'RenderMatchesLive RenderDoesNotMatchLive': 'a plain folder renders to what it holds',
  },
);
