import { gate, good, falseOr, optionalGate, stalls, waits } from '../conditions-table.js';
import { ageColumn, defineKind, detail, fact, messageColumn, readyColumn, reasonColumn, wideShowing } from '../kind.js';
import { hasPassword, isRepositoryUrl, passwordInUrl, scpForm, urlForm } from '../repository-url.js';
import { rule } from '../schema/rule.js';
import {
  block,
  boolean,
  count,
  immutable,
  list,
  object,
  optional,
  string,
  time,
  withDefault,
} from '../schema/schema.js';
import { glob, handled, namespaceMatcher, secretRef, trustRef } from '../schema/shapes.js';

const celText = (pattern: string): string => pattern.replaceAll('\\', '\\\\');

const spec = object(
  'Which repository, with whose credential, committed as whom.',
  {
    url: immutable(
      string('Address of the repository: an https, http or ssh URL, or host:path. Never holds a password.', {
        min: 1,
        max: 2048,
        rules: [
          rule<string>({
            id: 'GP-2',
            cel: `self.matches('${celText(urlForm)}') || self.matches('${celText(scpForm)}')`,
            message:
              'spec.url must be https://host/path, http://host/path, ssh://[user@]host/path or [user@]host:path, without query, fragment, blank or backslash',
            holds: (self) => isRepositoryUrl(self),
          }),
          rule<string>({
            id: 'GP-3',
            cel: `!self.matches('${celText(passwordInUrl)}')`,
            message: 'spec.url must not hold a password: credentials belong into spec.secretRef',
            holds: (self) => !hasPassword(self),
          }),
        ],
      }),
    ),
    secretRef: optional(secretRef('Secret with the credential, in the namespace of this object.'), 'anonymous access'),
    knownHostsRef: optional(trustRef('Host keys for SSH; ignored for HTTP.')),
    tls: optional(
      object('Trust for HTTPS.', {
        caRef: optional(
          trustRef('Certificates that are trusted in addition to the system roots.'),
          'system roots alone',
        ),
      }),
    ),
    proxy: optional(
      object(
        'HTTP proxy on the way to the host.',
        {
          url: optional(
            string('Address of the proxy, without a user.', { min: 1, max: 512, pattern: '^https?://[^\\s/@?#]+$' }),
          ),
          secretRef: optional(secretRef('Secret with keys username and password.')),
        },
        {
          rules: [
            rule<{ readonly url?: string; readonly secretRef?: unknown }>({
              id: 'GP-4',
              cel: '!has(self.secretRef) || has(self.url)',
              message: 'spec.proxy.secretRef needs spec.proxy.url',
              fieldPath: '.secretRef',
              holds: (self) => self.secretRef === undefined || self.url !== undefined,
            }),
          ],
        },
      ),
      'proxy of the pod environment',
    ),
    commit: block(
      object('How commits are made.', {
        committer: block(
          object('Committer of every commit.', {
            name: withDefault(
              string('Name of the committer.', { min: 1, max: 256, pattern: '^[^\\x00-\\x1f\\x7f<>]+$' }),
              'GitOps Reverser',
            ),
            email: withDefault(
              string('Address of the committer.', { min: 3, max: 254, pattern: '^[^\\s<>@]+@[^\\s<>@]+$' }),
              'noreply@configbutler.ai',
            ),
          }),
        ),
        signing: optional(
          object(
            'Signs every commit with an SSH key.',
            {
              secretRef: secretRef('Secret with the signing key, in the namespace of this object.'),
              generateWhenMissing: withDefault(
                boolean('Create or complete the Secret; a key that is there is never replaced.'),
                false,
              ),
            },
            {
              rules: [
                rule<{ readonly secretRef: { readonly name: string } }>({
                  id: 'GP-5',
                  cel: "self.secretRef.name != ''",
                  message: 'spec.commit.signing.secretRef.name must name a Secret',
                  fieldPath: '.secretRef.name',
                  holds: (self) => self.secretRef.name !== '',
                }),
              ],
            },
          ),
          'commits are not signed',
        ),
      }),
    ),
    allowedGitBranches: optional(
      list(
        'Which GitBranch objects may use this provider. Entries are alternatives; an absent or empty list admits nobody.',
        object('Admits a GitBranch when all parts match.', {
          namespaces: optional(namespaceMatcher('Where the GitBranch lives.'), "the provider's own namespace only"),
          branches: list('Branch names it may have; `**` is any branch, `{namespace}` its namespace.', glob('Glob.'), {
            min: 1,
            max: 64,
          }),
        }),
        { max: 64 },
      ),
      'admits nobody',
    ),
  },
  {
    rules: [
      rule<{ readonly url: string }>({
        id: 'GP-1',
        cel: 'self.url == oldSelf.url',
        message: 'spec.url is immutable; delete and recreate the GitProvider to use another repository',
        fieldPath: '.url',
        reason: 'FieldValueForbidden',
        holds: (self, old) => self.url === old.url,
      }),
    ],
  },
);

const status = object('What was observed.', {
  ...handled,
  repository: optional(string('Canonical identity of the repository.', { max: 2048 })),
  signingPublicKey: optional(string('Public key, authorized_keys form, while signing is usable.', { max: 4096 })),
  defaultBranch: optional(string("What the remote's HEAD names; empty when unborn or undecided.", { max: 255 })),
  lastVerifiedAt: optional(time('Last proved contact.')),
  gitBranchCount: optional(count('Admitted GitBranch objects.')),
});

export const gitProvider = defineKind({
  kind: 'GitProvider',
  plural: 'gitproviders',
  shortNames: ['gprov'],
  scope: 'Namespaced',
  doc: 'A repository, the credential to reach it and the identity that commits. It lends its credential to the GitBranch objects it admits.',
  spec,
  status,
  conditions: [
    gate(
      'Validated',
      'The declaration can be used.',
      good('Succeeded'),
      stalls('InvalidSpec', 'RetiredField', 'InsecureTransport', 'UserInfoInURL', 'PluginUnavailable'),
    ),
    gate(
      'CredentialsResolved',
      'Secret and trust material were read.',
      good('Succeeded', 'Anonymous'),
      stalls('SecretNotFound', 'SecretMalformed', 'HostKeysMissing', 'TrustNotFound', 'TrustMalformed'),
    ),
    optionalGate(
      'SigningConfigured',
      'Commits can be signed. Absent without spec.commit.signing.',
      good('Succeeded', 'Generated'),
      stalls('CommitConfigInvalid', 'SecretNotFound', 'SecretMalformed'),
    ),
    gate(
      'RemoteReachable',
      'The host answered for this repository.',
      waits('Progressing'),
      good('Succeeded'),
      falseOr(['progress', 'none'], 'RemoteUnavailable'),
      stalls(
        'AuthenticationFailed',
        'AccessDenied',
        'RepositoryNotFound',
        'HostKeyUntrusted',
        'TLSVerificationFailed',
        'UnsupportedObjectFormat',
      ),
    ),
  ],
  ready: [],
  columns: [
    fact('URL', '.spec.url', 'Address of the repository.'),
    readyColumn,
    reasonColumn,
    wideShowing('Validated'),
    wideShowing('RemoteReachable'),
    detail('Branches', '.status.gitBranchCount', 'Admitted GitBranch objects.', 'integer'),
    messageColumn,
    ageColumn,
  ],
});
