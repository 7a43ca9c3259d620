import { falseOr, gate, good, notice, optionalGate, progresses, stalls, unsure, waits } from '../conditions-table.js';
import {
  ageColumn,
  defineKind,
  detail,
  messageColumn,
  readyColumn,
  reasonColumn,
  showing,
  wideShowing,
} from '../kind.js';
import { rule } from '../schema/rule.js';
import {
  count,
  immutable,
  integer,
  list,
  object,
  oneOf,
  optional,
  set,
  string,
  time,
  withDefault,
} from '../schema/schema.js';
import { dnsSubdomain, glob, handled, namespaceMatcher } from '../schema/shapes.js';

const connection = object(
  'Which API server, and how it is reached.',
  {
    inCluster: optional(object("The operator's own cluster, with its own service account.", {})),
    secretRef: optional(
      object(
        "Secret with a kubeconfig, in the operator's namespace. Its content may rotate freely.",
        {
          name: dnsSubdomain('Name of the Secret.'),
          key: optional(
            string('Key of the kubeconfig.', { min: 1, max: 253, pattern: '^[-._a-zA-Z0-9]+$' }),
            'value, then value.yaml',
          ),
        },
        {
          rules: [
            rule<{ readonly name: string }>({
              id: 'KP-3',
              cel: "self.name != ''",
              message: 'spec.connection.secretRef.name must name a Secret',
              fieldPath: '.name',
              holds: (self) => self.name !== '',
            }),
          ],
        },
      ),
    ),
    dialect: withDefault(
      string('Kind of API server, served by a source plugin: kubernetes or kcp.', {
        min: 1,
        max: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      }),
      'kubernetes',
    ),
  },
  {
    rules: [
      rule<{ readonly inCluster?: unknown; readonly secretRef?: unknown }>({
        id: 'KP-1',
        cel: 'has(self.inCluster) != has(self.secretRef)',
        message: 'spec.connection must hold exactly one of inCluster: {} and secretRef',
        fieldPath: '.secretRef',
        holds: (self) => (self.inCluster !== undefined) !== (self.secretRef !== undefined),
      }),
    ],
  },
);

const clientCertificate = object(
  'Certificate that audit events of this cluster must be sent with.',
  {
    subjectAltName: optional(string('A subject alternative name of the certificate.', { min: 1, max: 253 })),
    sha256Fingerprint: optional(
      string('SHA-256 of the certificate, lower-case hexadecimal.', { max: 64, pattern: '^[0-9a-f]{64}$' }),
    ),
  },
  {
    rules: [
      rule<{ readonly subjectAltName?: string; readonly sha256Fingerprint?: string }>({
        id: 'KP-5',
        cel: 'has(self.subjectAltName) != has(self.sha256Fingerprint)',
        message: 'spec.attribution.clientCertificate must hold exactly one of subjectAltName and sha256Fingerprint',
        fieldPath: '.sha256Fingerprint',
        holds: (self) => (self.subjectAltName !== undefined) !== (self.sha256Fingerprint !== undefined),
      }),
    ],
  },
);

const deepEqual = (a: unknown, b: unknown): boolean => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) && deepEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
};

const spec = object(
  'Which Kubernetes API server, and who may read through this connection.',
  {
    connection: immutable(connection),
    client: optional(
      object(
        'Limits of the client; ignored for inCluster.',
        {
          qps: optional(
            integer('Requests a second.', { min: 1, max: 1000, format: 'int32' }),
            'flag --source-cluster-qps',
          ),
          burst: optional(
            integer('Requests at once.', { min: 1, max: 2000, format: 'int32' }),
            'flag --source-cluster-burst',
          ),
        },
        {
          rules: [
            rule<{ readonly qps?: number; readonly burst?: number }>({
              id: 'KP-4',
              cel: '!has(self.qps) || !has(self.burst) || self.burst >= self.qps',
              message: 'spec.client.burst must not be below qps',
              // `string(int)` has no estimated size and breaks the cost budget; `format` has one
              messageExpression: "'spec.client.burst %d must not be below qps %d'.format([self.burst, self.qps])",
              fieldPath: '.burst',
              holds: ({ qps, burst }) => qps === undefined || burst === undefined || burst >= qps,
              explain: ({ qps, burst }) => `spec.client.burst ${burst} must not be below qps ${qps}`,
            }),
          ],
        },
      ),
    ),
    attribution: optional(
      object('Where the names of authors come from.', {
        auditRoute: optional(
          dnsSubdomain('Route of the audit events of this cluster. Two providers may share one on purpose.'),
          'metadata.name',
        ),
        clientCertificate: optional(clientCertificate),
      }),
    ),
    allowedGitTargets: optional(
      list(
        'Which GitTarget objects may read through this connection. Entries are alternatives.',
        object('Admits a GitTarget when all parts match.', {
          namespaces: namespaceMatcher(
            'Control-cluster namespaces whose GitTarget objects are admitted. Required: a cluster-scoped object has no own namespace.',
          ),
          sourceNamespaces: optional(
            list(
              'Namespaces of the source cluster that WatchRule objects of such a target may read: names, `{namespace}`, or `*` alone.',
              string('Namespace.', {
                min: 1,
                max: 63,
                pattern: '^(\\*|\\{namespace\\}|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$',
              }),
              {
                min: 1,
                max: 128,
                rules: [
                  rule<readonly string[]>({
                    id: 'KP-7',
                    cel: "size(self) == 1 || !('*' in self)",
                    message: 'spec.allowedGitTargets[].sourceNamespaces: "*" stands alone',
                    holds: (self) => self.length === 1 || !self.includes('*'),
                  }),
                ],
              },
            ),
            '["{namespace}"]',
          ),
        }),
        { max: 64 },
      ),
      'admits nobody',
    ),
    allowedApplierClaims: optional(
      list(
        'Which FluxClaim and ArgoCDClaim objects may hold appliers with this credential. Never implied by allowedGitTargets.',
        object('Admits a claim when all parts match.', {
          namespaces: namespaceMatcher('Control-cluster namespaces of the claims. Required.'),
          kinds: optional(
            set('Kinds of claims.', oneOf('Kind.', ['FluxClaim', 'ArgoCDClaim']), { min: 1, max: 2 }),
            'both',
          ),
          applierNamespaces: optional(
            list("Namespaces of this provider's cluster whose appliers may be held.", glob('Glob.'), {
              min: 1,
              max: 64,
            }),
            '["{namespace}"]',
          ),
        }),
        { max: 64 },
      ),
      'admits nobody',
    ),
  },
  {
    rules: [
      rule<{ readonly connection: unknown }>({
        id: 'KP-2',
        cel: 'self.connection == oldSelf.connection',
        message:
          "spec.connection is immutable: a name must not silently mean another cluster; rotate the Secret's content instead, or delete and recreate",
        fieldPath: '.connection',
        reason: 'FieldValueForbidden',
        holds: (self, old) => deepEqual(self.connection, old.connection),
      }),
    ],
  },
);

const status = object('What was observed.', {
  ...handled,
  auditRoute: optional(string('Effective route.', { max: 253 })),
  server: optional(string('Scheme, host, port and kcp path; empty in-cluster.', { max: 2048 })),
  serverVersion: optional(string('Version the server reports.', { max: 64 })),
  gitTargetCount: optional(count('Admitted GitTarget objects.')),
  applierClaimCount: optional(count('Admitted claims.')),
  credential: optional(
    object('Proof that a rotation was picked up.', {
      resourceVersion: optional(string('Opaque.', { max: 128 })),
      loadedAt: optional(time('When it was read.')),
    }),
  ),
});

export const sourceReachableRows = [
  waits('AwaitingDiscovery'),
  good('LocalCluster', 'RemoteCluster'),
  progresses('SourceClusterUnreachable'),
  falseOr(['stalled'], 'SourceClusterAuthenticationFailed', 'SourceClusterAccessDenied'),
] as const;

export const kubeProvider = defineKind({
  kind: 'KubeProvider',
  plural: 'kubeproviders',
  shortNames: ['kprov'],
  scope: 'Cluster',
  doc: 'A connection to one Kubernetes API server. It lends the connection to the GitTarget objects and claims it admits. The name carries no meaning but what an omitted reference names: default.',
  spec,
  status,
  conditions: [
    gate(
      'Validated',
      'Connection and credential can be used; decided without dialing.',
      good('Succeeded', 'InCluster'),
      stalls(
        'KubeConfigSecretNotFound',
        'KubeConfigKeyNotFound',
        'KubeConfigInvalid',
        'KubeConfigExecNotAllowed',
        'KubeConfigInsecureTLSNotAllowed',
        'KubeConfigProxyNotAllowed',
        'KubeConfigFileReferenceNotAllowed',
        'PluginUnavailable',
        'InvalidSpec',
        'RetiredField',
      ),
    ),
    optionalGate(
      'SourceClusterReachable',
      'The API server answers. Absent while nobody uses the provider.',
      ...sourceReachableRows,
    ),
    notice(
      'AuditFactsReceived',
      'Audit events arrive on the route. Not a gate: it never moves Ready. Absent without attribution.',
      good('Received'),
      unsure('TransportUnavailable', 'NoAuditDelivery', 'RouteUnused'),
    ),
  ],
  ready: [],
  columns: [
    readyColumn,
    reasonColumn,
    showing('SourceClusterReachable', 'Reachable'),
    showing('AuditFactsReceived', 'FactsReceived'),
    wideShowing('Validated'),
    detail('Server', '.status.server', 'Address of the API server; empty in-cluster.'),
    detail('AuditRoute', '.status.auditRoute', 'Effective route of audit events.'),
    detail('Targets', '.status.gitTargetCount', 'Admitted GitTarget objects.', 'integer'),
    detail('Claims', '.status.applierClaimCount', 'Admitted claims.', 'integer'),
    messageColumn,
    ageColumn,
  ],
});
