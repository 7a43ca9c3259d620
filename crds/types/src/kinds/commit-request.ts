import { good, notice, progresses, shows, stalls, unsure } from '../conditions-table.js';
import { sameDuration, toNanoseconds } from '../duration.js';
import { ageColumn, defineKind, detail, fact, messageColumn, readyColumn, reasonColumn, wideShowing } from '../kind.js';
import { rule } from '../schema/rule.js';
import { object, oneOf, optional, string, time, withDefault } from '../schema/schema.js';
import { commitId, duration, localRef, observed } from '../schema/shapes.js';

const frozen = 'CommitRequest spec is immutable after creation';
const same = (path: string, compare: (self: string, old: string) => string): string => {
  const [self, old] = [`self.${path}`, `oldSelf.${path}`];
  return `has(${self}) == has(${old}) && (!has(${self}) || ${compare(self, old)})`;
};
const equal = (self: string, old: string): string => `${self} == ${old}`;
const equalDuration = (self: string, old: string): string => `duration(${self}) == duration(${old})`;

interface Window {
  readonly attach?: string;
  readonly attachTimeout?: string;
  readonly idleTimeout?: string;
  readonly maxDuration?: string;
}
interface Request {
  readonly gitTargetRef: { readonly name: string };
  readonly message?: string;
  readonly window?: Window;
  readonly whenNothingToCommit?: string;
  readonly ttlAfterFinished?: string;
}

/** Unicode White_Space, in escapes of CEL: what the expression engine sees are the characters themselves. */
const notBlank = String.raw`[^\\t-\\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]`;
const notBlankHere = /[^\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/u;

const within = (doc: string, field: string) =>
  duration(doc, 'CR-6', { path: `spec.window.${field}`, least: '0s', most: '5m' });
const window = object(
  'Which edits the commit takes.',
  {
    attach: withDefault(
      oneOf('The open window, or else the next one; or only the next one.', ['CurrentOrNext', 'Next']),
      'CurrentOrNext',
    ),
    attachTimeout: withDefault(within('How long to wait for a window.', 'attachTimeout'), '2s'),
    idleTimeout: optional(within('Quiet time after which the window closes.', 'idleTimeout'), 'no idle close'),
    maxDuration: withDefault(within('Longest time the window stays open.', 'maxDuration'), '2s'),
  },
  {
    rules: [
      rule<Window>({
        id: 'CR-1',
        cel: [
          same('attach', equal),
          same('attachTimeout', equalDuration),
          same('idleTimeout', equalDuration),
          same('maxDuration', equalDuration),
        ].join(' && '),
        message: frozen,
        fieldPath: '.attach',
        reason: 'FieldValueForbidden',
        holds: (self, old) =>
          self.attach === old.attach &&
          sameDuration(self.attachTimeout, old.attachTimeout) &&
          sameDuration(self.idleTimeout, old.idleTimeout) &&
          sameDuration(self.maxDuration, old.maxDuration),
      }),
      rule<Window>({
        id: 'CR-3',
        cel: '!has(self.idleTimeout) || duration(self.idleTimeout) <= duration(self.maxDuration)',
        message: 'spec.window.idleTimeout must not exceed spec.window.maxDuration',
        fieldPath: '.idleTimeout',
        holds: ({ idleTimeout, maxDuration = '2s' }) =>
          idleTimeout === undefined || (toNanoseconds(idleTimeout) ?? 0n) <= (toNanoseconds(maxDuration) ?? 0n),
      }),
      rule<Window>({
        id: 'CR-4',
        cel: "self.attach != 'Next' || duration(self.attachTimeout) > duration('0s')",
        message: 'spec.window.attach Next needs an attachTimeout above 0s: without waiting there is no next window',
        fieldPath: '.attachTimeout',
        holds: ({ attach, attachTimeout = '2s' }) => attach !== 'Next' || (toNanoseconds(attachTimeout) ?? 0n) > 0n,
      }),
    ],
  },
);

const spec = object(
  'Save now, with this message.',
  {
    gitTargetRef: localRef('GitTarget, in the namespace of this object.'),
    message: optional(
      string('Message of the commit, literally. Newlines are allowed, tabs are not.', {
        min: 1,
        max: 1024,
        pattern: '^[^\\x00-\\x09\\x0B-\\x1F\\x7F]*$',
        rules: [
          rule<string>({
            id: 'CR-2',
            cel: `self.matches('${notBlank}')`,
            message: 'spec.message must contain a non-whitespace character',
            holds: (self) => notBlankHere.test(self),
          }),
        ],
      }),
      "the target's liveTemplate",
    ),
    // spelled out: the API server checks a default against the block's rules before it applies nested defaults
    window: withDefault(window, { attach: 'CurrentOrNext', attachTimeout: '2s', maxDuration: '2s' }),
    whenNothingToCommit: withDefault(oneOf('What an empty window leads to.', ['Resolve', 'CommitEmpty']), 'Resolve'),
    ttlAfterFinished: optional(
      duration('How long the object stays after it became terminal; 0s keeps it for ever.', 'CR-7', {
        path: 'spec.ttlAfterFinished',
        least: '0s',
        most: '8760h',
      }),
      'flag --commit-request-ttl (168h)',
    ),
  },
  {
    rules: [
      rule<Request>({
        id: 'CR-1',
        cel: [
          'self.gitTargetRef.name == oldSelf.gitTargetRef.name',
          same('message', equal),
          'has(self.window) == has(oldSelf.window)',
          same('whenNothingToCommit', equal),
          same('ttlAfterFinished', equalDuration),
        ].join(' && '),
        message: frozen,
        fieldPath: '.gitTargetRef',
        reason: 'FieldValueForbidden',
        holds: (self, old) =>
          self.gitTargetRef.name === old.gitTargetRef.name &&
          self.message === old.message &&
          (self.window === undefined) === (old.window === undefined) &&
          self.whenNothingToCommit === old.whenNothingToCommit &&
          sameDuration(self.ttlAfterFinished, old.ttlAfterFinished),
      }),
      rule<Request>({
        id: 'CR-5',
        cel: "!has(self.whenNothingToCommit) || self.whenNothingToCommit != 'CommitEmpty' || has(self.message)",
        message: 'spec.whenNothingToCommit: CommitEmpty requires spec.message',
        fieldPath: '.message',
        reason: 'FieldValueRequired',
        holds: (self) => self.whenNothingToCommit !== 'CommitEmpty' || self.message !== undefined,
      }),
    ],
  },
);

const status = object('What was observed.', {
  ...observed,
  branch: optional(string('Short name of the branch, once resolved.', { max: 255 })),
  commit: optional(commitId('The commit, once it was pushed.')),
  finishedAt: optional(time('When it became terminal.')),
});

export const commitRequest = defineKind({
  kind: 'CommitRequest',
  plural: 'commitrequests',
  shortNames: ['creq'],
  scope: 'Namespaced',
  doc: 'Asks once to save pending edits of a GitTarget with a message. Its author is whoever created it. Terminal conditions never change again.',
  spec,
  status,
  conditions: [
    notice(
      'AuthorAttributed',
      'The submitter was captured at admission. Not a gate: it is settled at once.',
      good('AttributedFromAdmission'),
      shows('CommitterFallback', 'AuthorCaptureDisabled'),
    ),
    notice(
      'Pushed',
      'The commit is on the remote. Not a gate.',
      unsure('Progressing'),
      good('Succeeded'),
      shows('NothingPushed'),
    ),
  ],
  ready: [
    progresses(
      'Progressing',
      'WaitingForWorker',
      'WaitingForWindow',
      'CollectingWindow',
      'ApplyInProgress',
      'WaitingForPush',
    ),
    good('Committed', 'AlreadyPresent', 'NoWindow', 'WindowMismatch'),
    stalls(
      'TargetSuspended',
      'RenderDiverged',
      'WriteRefused',
      'FinalizeFailed',
      'GitTargetNotFound',
      'TargetNotAllowed',
    ),
  ],
  columns: [
    fact('GitTarget', '.spec.gitTargetRef.name', 'GitTarget whose edits are saved.'),
    readyColumn,
    reasonColumn,
    fact('Commit', '.status.commit', 'The commit.'),
    wideShowing('AuthorAttributed'),
    wideShowing('Pushed'),
    detail('Branch', '.status.branch', 'Branch it was made on.'),
    messageColumn,
    ageColumn,
  ],
});
