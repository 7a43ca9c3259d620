import {
  falseOr,
  gate,
  good,
  grantRows,
  notice,
  progresses,
  shows,
  stalls,
  unknownOr,
  unsure,
  waits,
} from '../conditions-table.js';
import { ageColumn, defineKind, detail, fact, messageColumn, readyColumn, reasonColumn, wideShowing } from '../kind.js';
import { rule } from '../schema/rule.js';
import { count, immutable, list, object, oneOf, optional, string, time } from '../schema/schema.js';
import {
  branchName,
  commitId,
  folderPath,
  grantedRef,
  handled,
  namespaceMatcher,
  sameGrantedRef,
} from '../schema/shapes.js';

const spec = object(
  'Which branch of which provider, and who may write it.',
  {
    gitProviderRef: immutable(grantedRef('GitProvider whose credential is borrowed; it must admit this branch.')),
    branch: immutable(branchName('Short name of the branch that is written.', 'GB-3', 'spec.branch')),
    parentBranch: optional(
      branchName(
        'Where the branch starts while it does not exist on the remote. Takes effect the next time it is absent.',
        'GB-3',
        'spec.parentBranch',
      ),
      "the remote's default branch",
    ),
    allowedGitTargets: optional(
      list(
        'Which GitTarget objects may write this branch. Entries are alternatives; `[{}]` is own namespace, any folder.',
        object('Admits a GitTarget when all parts match.', {
          namespaces: optional(namespaceMatcher('Where the GitTarget lives.'), "the branch's own namespace only"),
          paths: optional(
            list(
              'Folders it may write, each with everything below; may hold `{namespace}`, `.` is every folder.',
              folderPath('Folder.', 'GB-4', 'spec.allowedGitTargets[].paths[]'),
              { min: 1, max: 64 },
            ),
            'any folder',
          ),
        }),
        { max: 64 },
      ),
      'admits nobody',
    ),
  },
  {
    rules: [
      {
        ...sameGrantedRef(
          'gitProviderRef',
          'GB-1',
          'spec.gitProviderRef is immutable; delete and recreate the GitBranch to use another provider',
        ),
        reason: 'FieldValueForbidden',
      },
      rule<{ readonly branch: string }>({
        id: 'GB-2',
        cel: 'self.branch == oldSelf.branch',
        message: 'spec.branch is immutable; delete and recreate the GitBranch to write another branch',
        fieldPath: '.branch',
        reason: 'FieldValueForbidden',
        holds: (self, old) => self.branch === old.branch,
      }),
    ],
  },
);

const status = object('What was observed.', {
  ...handled,
  remote: optional(
    object('The branch on the remote, as last proved.', {
      commit: optional(commitId('Where the branch is; empty: it is not there, which is no error.')),
      lastVerifiedAt: optional(time('Last proof.')),
      verifiedBy: optional(oneOf('What proved it.', ['Push', 'Fetch'])),
      parent: optional(
        object('Where an absent branch would start.', {
          branch: optional(string('Name of the parent branch.', { max: 255 })),
          state: optional(oneOf('Whether it is there.', ['Present', 'Missing', 'Unborn'])),
        }),
      ),
    }),
  ),
  gitTargetCount: optional(count('Admitted GitTarget objects.')),
  state: optional(
    oneOf('What the branch worker is doing; a snapshot.', [
      'Idle',
      'Collecting',
      'Retaining',
      'Publishing',
      'Recovering',
      'Draining',
    ]),
  ),
  retained: optional(
    object('Work that is not published yet. Absent when there is none.', {
      writeCount: count('Commits waiting.'),
      sizeBytes: count('Bytes they take.'),
      oldestAt: optional(time('When the oldest was made.')),
    }),
  ),
  owner: optional(string("Replica that holds the branch's lease. Absent with one replica.", { max: 253 })),
});

export const gitBranch = defineKind({
  kind: 'GitBranch',
  plural: 'gitbranches',
  shortNames: ['gbr'],
  scope: 'Namespaced',
  doc: 'One branch of one provider. It borrows the credential of its GitProvider and lends the branch to the GitTarget objects it admits.',
  spec,
  status,
  conditions: [
    gate(
      'Validated',
      'The declaration can be used.',
      good('Succeeded'),
      stalls('GitProviderNotFound', 'BranchConflict', 'InvalidSpec', 'RetiredField'),
    ),
    gate('BranchAllowed', 'The GitProvider admits this branch.', ...grantRows),
    gate(
      'GitProviderReady',
      'The provider is ready.',
      good('Succeeded'),
      falseOr(['stalled', 'progress'], 'GitProviderNotReady'),
      unknownOr(['stalled', 'progress'], 'GitProviderNotReady'),
    ),
    gate(
      'ParentBranchResolved',
      'It is known where an absent branch would start.',
      good('Succeeded', 'NotNeeded'),
      stalls('ParentBranchNotFound', 'ParentBranchUnborn', 'DefaultBranchUnresolved'),
      waits('Progressing'),
    ),
    gate(
      'Writable',
      'The host takes our pushes. Decided by pushes alone.',
      unsure('NotAttempted'),
      good('Succeeded'),
      stalls('PushForbidden', 'ProtectedBranch', 'PushRejected', 'RemoteRejectedPack', 'AuthenticationFailed'),
    ),
    gate(
      'Publishing',
      'What was committed reaches the remote.',
      good('Succeeded'),
      progresses('RemoteUnavailable', 'BranchMoving'),
      stalls('BacklogFull', 'JournalVersionUnsupported'),
    ),
    notice(
      'JournalHealthy',
      'The journal takes records. Not a gate: it never moves Ready. Absent with the memory journal.',
      good('Succeeded'),
      shows('QuotaExceeded', 'JournalVersionUnsupported', 'JournalUnavailable'),
    ),
  ],
  ready: [],
  columns: [
    fact('Branch', '.spec.branch', 'Branch that is written.'),
    readyColumn,
    reasonColumn,
    fact('Targets', '.status.gitTargetCount', 'Admitted GitTarget objects.', 'integer'),
    detail('Provider', '.spec.gitProviderRef.name', 'GitProvider whose credential is borrowed.'),
    detail('Commit', '.status.remote.commit', 'Where the branch is on the remote.'),
    detail('Verified', '.status.remote.lastVerifiedAt', 'Time since the last proof.', 'date'),
    detail('State', '.status.state', 'What the branch worker is doing.'),
    wideShowing('Validated'),
    wideShowing('BranchAllowed'),
    wideShowing('GitProviderReady'),
    wideShowing('ParentBranchResolved'),
    wideShowing('Writable'),
    wideShowing('Publishing'),
    wideShowing('JournalHealthy'),
    messageColumn,
    ageColumn,
  ],
});
