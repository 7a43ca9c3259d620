import { KubeClient, type KubeConnection } from '@gitops-reverser/toolkit-kube';

/** Whether a bearer token may get `/metrics`, asked of the API server: who it is, then whether they may. */
export function metricsAccess(connection: KubeConnection): (token: string) => Promise<boolean> {
  const client = new KubeClient(connection);
  const review = async (
    group: string,
    resource: string,
    kind: string,
    spec: object,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const body = { apiVersion: `${group}/v1`, kind, metadata: {}, spec };
    const request = {
      method: 'POST',
      path: `/apis/${group}/v1/${resource}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs: 5_000,
    } as const;
    const answer = await client.json(request, AbortSignal.timeout(5_000));
    return (answer['status'] ?? {}) as Readonly<Record<string, unknown>>;
  };
  return async (token) => {
    const who = await review('authentication.k8s.io', 'tokenreviews', 'TokenReview', { token });
    if (who['authenticated'] !== true) return false;
    const { username, groups = [] } = (who['user'] ?? {}) as {
      readonly username?: string;
      readonly groups?: readonly string[];
    };
    const asked = { user: username ?? '', groups, nonResourceAttributes: { path: '/metrics', verb: 'get' } };
    return (
      (await review('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview', asked))['allowed'] === true
    );
  };
}
