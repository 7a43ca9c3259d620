import type { BranchStatus } from '@gitops-reverser/kernel-api';
import { conditionTable } from '../testing/condition-table.fixture.js';
import type { World } from '../testing/world.fixture.js';

const says = (status: Partial<BranchStatus>) => (world: World) => world.branch().say(status);
const workerRow = (
  type: 'ParentBranchResolved' | 'Writable' | 'Publishing',
  field: 'parentResolved' | 'writable' | 'publishing',
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  level: 'ok' | 'stalled' | 'progress' | 'none',
) => ({
  row: `${type} ${status} ${reason}`,
  why: 'as the worker says',
  level,
  says: [`branch main of shop/state: ${reason}`],
  when: says({ [field]: { status, reason, message: `branch main of shop/state: ${reason}` } }),
});
const byLabel = [{ namespaces: { selector: { matchLabels: { tier: 'tenant' } } }, branches: ['main'] }];

conditionTable(
  'GitBranch',
  [
    { row: 'Validated True Succeeded', why: 'the quick start', level: 'ok', says: ['can be used'] },
    {
      row: 'Validated False GitProviderNotFound',
      why: 'nobody lends a credential',
      level: 'stalled',
      says: ['spec.gitProviderRef', 'GitProvider shop/home', 'does not exist', 'create it'],
      given: (world) => world.cluster.remove('GitProvider', 'shop/home'),
    },
    {
      row: 'Validated False BranchConflict',
      why: 'the older object owns the remote branch, over whatever provider and spelling',
      level: 'stalled',
      of: 'shop/younger',
      says: ['spec.branch', 'main', 'older GitBranch shop/main', 'delete one'],
      given: (world) => {
        world.declare('GitProvider', 'shop/second', {
          url: 'https://GIT.example.test:443/shop/state',
          allowedGitBranches: [{ branches: ['**'] }],
        });
        world.declare(
          'GitBranch',
          'shop/younger',
          { gitProviderRef: { name: 'second' }, branch: 'main' },
          { creationTimestamp: '2026-01-02T00:00:00Z' },
        );
      },
    },
    {
      row: 'Validated False InvalidSpec',
      why: 'a branch name stored before the rule existed',
      level: 'stalled',
      says: ['spec.branch'],
      given: (world) => world.amend('GitBranch', { branch: '../main' }),
    },
    { row: 'BranchAllowed True Granted', why: 'the quick start', level: 'ok', says: ['admitted'] },
    {
      row: 'BranchAllowed False NotAllowed',
      why: 'AZ-1: an absent list admits nobody',
      level: 'stalled',
      says: ['GitProvider shop/home', 'admits nobody', 'spec.allowedGitBranches', '{branches: [main]}'],
      given: (world) => world.amend('GitProvider', { allowedGitBranches: undefined }),
    },
    {
      row: 'BranchAllowed False NotAllowed',
      why: 'AZ-7: the failing part and the smallest grant, no other grants',
      level: 'stalled',
      says: ['branch main', 'branches that match', /^(?!.*release).*$/],
      given: (world) => world.amend('GitProvider', { allowedGitBranches: [{ branches: ['release/*'] }] }),
    },
    {
      row: 'BranchAllowed Unknown GrantUnreadable',
      why: 'never granted, and labels cannot be read: it does not start',
      level: 'progress',
      says: ['GitProvider shop/home', 'Namespace shop', 'timeout'],
      given: (world) => {
        world.amend('GitProvider', { allowedGitBranches: byLabel });
        world.cluster.namespaceTrouble = 'timeout';
      },
    },
    {
      row: 'BranchAllowed Unknown GrantUnreadable',
      why: '12.2: granted before, the last decision stands',
      level: 'none',
      says: ['Namespace shop', 'the last decision stands'],
      given: (world) => world.amend('GitProvider', { allowedGitBranches: byLabel }),
      when: (world) => {
        world.cluster.namespaceTrouble = 'timeout';
        world.annotate('GitBranch', 'again');
      },
    },
    { row: 'GitProviderReady True Succeeded', why: 'the quick start', level: 'ok', says: ['ready'] },
    {
      row: 'GitProviderReady False GitProviderNotReady',
      why: 'the provider stalls',
      level: 'stalled',
      says: ['GitProvider shop/home', 'AuthenticationFailed', 'wrong password'],
      given: (world) =>
        void (world.repositories.failure = { reason: 'AuthenticationFailed', message: 'wrong password' }),
    },
    {
      row: 'GitProviderReady False GitProviderNotReady',
      why: 'the provider was ready and waits for its host',
      level: 'progress',
      says: ['GitProvider shop/home', 'RemoteUnavailable', 'no route'],
      when: async (world) => {
        world.repositories.failure = { reason: 'RemoteUnavailable', message: 'no route' };
        world.annotate('GitProvider', 'look');
        await world.clock.advance(640_000);
      },
    },
    {
      row: 'GitProviderReady Unknown GitProviderNotReady',
      why: 'the provider was never judged to the end',
      level: 'progress',
      says: ['GitProvider shop/home', 'cannot be read'],
      given: (world) => void (world.cluster.secretTrouble = 403),
    },
    workerRow('ParentBranchResolved', 'parentResolved', 'True', 'Succeeded', 'ok'),
    workerRow('ParentBranchResolved', 'parentResolved', 'True', 'NotNeeded', 'ok'),
    workerRow('ParentBranchResolved', 'parentResolved', 'False', 'ParentBranchNotFound', 'stalled'),
    workerRow('ParentBranchResolved', 'parentResolved', 'False', 'ParentBranchUnborn', 'stalled'),
    workerRow('ParentBranchResolved', 'parentResolved', 'False', 'DefaultBranchUnresolved', 'stalled'),
    workerRow('ParentBranchResolved', 'parentResolved', 'Unknown', 'Progressing', 'progress'),
    workerRow('Writable', 'writable', 'Unknown', 'NotAttempted', 'none'),
    workerRow('Writable', 'writable', 'True', 'Succeeded', 'ok'),
    workerRow('Writable', 'writable', 'False', 'PushForbidden', 'stalled'),
    workerRow('Writable', 'writable', 'False', 'ProtectedBranch', 'stalled'),
    workerRow('Writable', 'writable', 'False', 'PushRejected', 'stalled'),
    workerRow('Writable', 'writable', 'False', 'RemoteRejectedPack', 'stalled'),
    workerRow('Writable', 'writable', 'False', 'AuthenticationFailed', 'stalled'),
    workerRow('Publishing', 'publishing', 'True', 'Succeeded', 'ok'),
    workerRow('Publishing', 'publishing', 'False', 'RemoteUnavailable', 'progress'),
    workerRow('Publishing', 'publishing', 'False', 'BranchMoving', 'progress'),
    workerRow('Publishing', 'publishing', 'False', 'BacklogFull', 'stalled'),
  ],
  {
    'Validated RetiredField': 'no spelling of this kind was retired so far',
    'Publishing JournalVersionUnsupported': 'the journal of this version is in memory',
    'JournalHealthy Succeeded': 'absent with the memory journal',
    'JournalHealthy QuotaExceeded': 'absent with the memory journal',
    'JournalHealthy JournalVersionUnsupported': 'absent with the memory journal',
    'JournalHealthy JournalUnavailable': 'absent with the memory journal',
  },
);
