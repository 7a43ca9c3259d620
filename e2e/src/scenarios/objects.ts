/** What a team declares to have its namespace mirrored; every field has the value of the quick start. */
export interface Declaration {
  readonly namespace: string;
  readonly kubeProvider: string;
  readonly url: string;
  readonly branch?: string;
  readonly parentBranch?: string;
  readonly path?: string;
  /** Items of `WatchRule.spec.rules`, one YAML flow map a line. */
  readonly rules?: readonly string[];
  /** The item of `GitProvider.spec.allowedGitBranches`; `undefined` grants nothing. */
  readonly grant?: string | undefined;
  readonly secretRef?: string;
}

export const kubeProvider = (name: string, grant: string): string => `
apiVersion: configbutler.ai/v1alpha3
kind: KubeProvider
metadata: {name: ${name}}
spec:
  connection: {inCluster: {}}
  allowedGitTargets: [${grant}]
`;

export const credentials = (
  namespace: string,
  account: { readonly user: string; readonly password: string },
  name = 'git-creds',
): string => `
apiVersion: v1
kind: Secret
metadata: {name: ${name}, namespace: ${namespace}}
stringData: {username: ${account.user}, password: ${account.password}}
`;

export function declaration(team: Declaration): string {
  const {
    namespace,
    branch = 'main',
    path = 'live-cluster',
    rules = ['{apiGroups: [""], resources: [configmaps]}'],
  } = team;
  const grant = 'grant' in team ? team.grant : '{branches: ["**"]}';
  return `
apiVersion: configbutler.ai/v1alpha3
kind: GitProvider
metadata: {name: home, namespace: ${namespace}}
spec:
  url: ${team.url}
  ${team.secretRef === undefined ? '' : `secretRef: {name: ${team.secretRef}}`}
  ${grant === undefined ? '' : `allowedGitBranches: [${grant}]`}
---
apiVersion: configbutler.ai/v1alpha3
kind: GitBranch
metadata: {name: main, namespace: ${namespace}}
spec:
  gitProviderRef: {name: home}
  branch: ${branch}
  ${team.parentBranch === undefined ? '' : `parentBranch: ${team.parentBranch}`}
  allowedGitTargets: [{}]
---
apiVersion: configbutler.ai/v1alpha3
kind: GitTarget
metadata: {name: live, namespace: ${namespace}}
spec:
  gitBranchRef: {name: main}
  kubeProviderRef: {name: ${team.kubeProvider}}
  path: ${path}
  commit: {window: {idleTimeout: 1s, maxDuration: 10s}}
---
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {name: basics, namespace: ${namespace}}
spec:
  gitTargetRef: {name: live}
  rules:
${rules.map((rule) => `    - ${rule}`).join('\n')}
`;
}

export const configMap = (namespace: string, name: string, data: string, metadata = ''): string => `
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  namespace: ${namespace}
${metadata}data:
  ${data}
`;

/** A namespaced kind with any spec and a status subresource. */
export const customResourceDefinition = (plural: string, kind: string, group = 'fruit.example.com'): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.${group}}
spec:
  group: ${group}
  names: {kind: ${kind}, plural: ${plural}, singular: ${kind.toLowerCase()}}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;
