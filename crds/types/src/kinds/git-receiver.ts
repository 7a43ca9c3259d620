import { gate, good, notice, stalls, unsure } from '../conditions-table.js';
import { ageColumn, defineKind, detail, fact, messageColumn, readyColumn, reasonColumn, wideShowing } from '../kind.js';
import { rule } from '../schema/rule.js';
import { boolean, count, immutable, object, oneOf, optional, string, time, withDefault } from '../schema/schema.js';
import { handled, namespaceMatcher, secretRef } from '../schema/shapes.js';

const spec = object(
  'Which host calls, and with which secret.',
  {
    type: immutable(
      oneOf('Shape of the request; declared, never guessed.', [
        'GitHub',
        'GitLab',
        'Gitea',
        'BitbucketCloud',
        'BitbucketServer',
        'AzureDevOps',
        'Generic',
      ]),
    ),
    secretRef: secretRef('Secret that proves the sender, in the namespace of this object.'),
    namespaces: optional(
      namespaceMatcher(
        "Namespaces whose GitProvider objects it may wake. Only a receiver in the operator's namespace may set it.",
      ),
      'own namespace',
    ),
    suspend: withDefault(boolean('Answer 404.'), false),
  },
  {
    rules: [
      rule<{ readonly type: string }>({
        id: 'GR-1',
        cel: 'self.type == oldSelf.type',
        message: 'spec.type is immutable; create another receiver',
        fieldPath: '.type',
        reason: 'FieldValueForbidden',
        holds: (self, old) => self.type === old.type,
      }),
    ],
  },
);

const status = object('What was observed.', {
  ...handled,
  webhookPath: optional(string('Path to enter at the host.', { max: 512 })),
  lastDelivery: optional(
    object('Last verified delivery.', {
      id: optional(string("The host's id.", { max: 256 })),
      at: optional(time('When it came.')),
      event: optional(string('Event.', { max: 128 })),
      outcome: optional(string('What became of it.', { max: 64 })),
      matchedCount: count('Branches it woke.'),
    }),
  ),
  lastPingAt: optional(time('Last ping.')),
  gitProviderCount: optional(count('GitProvider objects in scope.')),
});

export const gitReceiver = defineKind({
  kind: 'GitReceiver',
  plural: 'gitreceivers',
  shortNames: ['grecv'],
  scope: 'Namespaced',
  doc: 'Takes webhooks of a Git host: a branch moved. A delivery can cause at most one look at a branch.',
  spec,
  status,
  conditions: [
    gate(
      'Validated',
      'The declaration can be used.',
      good('Succeeded'),
      stalls('SecretNotFound', 'SecretMalformed', 'ScopeNotAllowed', 'ListenerDisabled', 'InvalidSpec', 'RetiredField'),
    ),
    notice(
      'Receiving',
      'A verified delivery came. Not a gate: it never moves Ready.',
      unsure('NoDelivery'),
      good('Received'),
    ),
  ],
  ready: [],
  columns: [
    fact('Type', '.spec.type', 'Host that calls.'),
    readyColumn,
    reasonColumn,
    fact('Path', '.status.webhookPath', 'Path to enter at the host.'),
    wideShowing('Receiving'),
    detail('LastDelivery', '.status.lastDelivery.at', 'Time since the last verified delivery.', 'date'),
    messageColumn,
    ageColumn,
  ],
});
