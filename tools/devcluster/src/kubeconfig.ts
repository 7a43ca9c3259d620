export interface KubeconfigParts {
  readonly server: string;
  /** PEM; absent for plain HTTP. */
  readonly ca: string | undefined;
  readonly user: string;
  readonly token: string;
  readonly namespace: string | undefined;
}

/** A kubeconfig that needs no other file: CA and token are inline. JSON strings are YAML strings. */
export function renderKubeconfig({ server, ca, user, token, namespace }: KubeconfigParts): string {
  const text = JSON.stringify;
  return `apiVersion: v1
kind: Config
clusters:
- name: devcluster
  cluster:
    server: ${text(server)}
${ca === undefined ? '' : `    certificate-authority-data: ${Buffer.from(ca).toString('base64')}\n`}users:
- name: ${text(user)}
  user:
    token: ${text(token)}
contexts:
- name: devcluster
  context:
    cluster: devcluster
    user: ${text(user)}
${namespace === undefined ? '' : `    namespace: ${text(namespace)}\n`}current-context: devcluster
`;
}
