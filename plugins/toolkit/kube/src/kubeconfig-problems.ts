import { ReverserError } from '@gitops-reverser/kernel-api';

/** In the order in which they are reported when several apply (30, 1.2). */
export type KubeconfigReason =
  | 'KubeConfigInvalid'
  | 'KubeConfigExecNotAllowed'
  | 'KubeConfigInsecureTLSNotAllowed'
  | 'KubeConfigProxyNotAllowed'
  | 'KubeConfigFileReferenceNotAllowed';

const REMEDY: Readonly<Record<KubeconfigReason, string>> = {
  KubeConfigInvalid: 'correct the kubeconfig',
  KubeConfigExecNotAllowed: 'use a token or a client certificate; programs run only with --insecure-kubeconfig-exec',
  KubeConfigInsecureTLSNotAllowed:
    'use https with certificate-authority-data; otherwise only with --insecure-kubeconfig-tls',
  KubeConfigProxyNotAllowed: 'remove it; an http or https proxy is used only with --insecure-kubeconfig-proxy',
  KubeConfigFileReferenceNotAllowed:
    'put the content itself into the matching "-data" or "token" field; file paths are never read',
};
const ORDER: readonly KubeconfigReason[] = [
  'KubeConfigInvalid',
  'KubeConfigExecNotAllowed',
  'KubeConfigInsecureTLSNotAllowed',
  'KubeConfigProxyNotAllowed',
  'KubeConfigFileReferenceNotAllowed',
];

/** Problems of one kubeconfig, all of them, so that nobody corrects one field only to meet the next. */
export class KubeconfigProblems {
  readonly #where: string;
  readonly #found: { readonly reason: KubeconfigReason; readonly what: string }[] = [];

  constructor(where: string) {
    this.#where = where;
  }

  add(reason: KubeconfigReason, what: string): void {
    this.#found.push({ reason, what });
  }

  throwAny(): void {
    const reason = ORDER.find((candidate) => this.#found.some((problem) => problem.reason === candidate));
    if (reason === undefined) return;
    const reasons = ORDER.filter((candidate) => this.#found.some((problem) => problem.reason === candidate));
    const said = reasons.map(
      (each) =>
        `${this.#found
          .filter((problem) => problem.reason === each)
          .map(({ what }) => what)
          .join(', ')}: ${REMEDY[each]}`,
    );
    throw new ReverserError({
      reason,
      retry: 'when-changed',
      message: `${this.#where}: ${said.join('; ')}`,
      details: { reasons },
    });
  }
}
