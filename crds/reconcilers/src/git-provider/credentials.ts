import type { GitProviderSpec } from '@gitops-reverser/crd-types';
import type { RepositoryAccess } from '../repositories.js';
import type { SecretContent, SecretReader } from '../secrets.js';

export type CredentialsVerdict =
  | {
      readonly kind: 'resolved';
      readonly access: RepositoryAccess;
      readonly version: string;
      readonly isAnonymous: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'SecretNotFound' | 'SecretMalformed' | 'TrustNotFound' | 'TrustMalformed';
      readonly message: string;
    }
  | { readonly kind: 'unreadable'; readonly message: string };

const CA_KEYS = ['ca.crt', 'caFile'];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----/;

/** Reads the Secret and the trust material a provider names (chapter 10, 11.1 and 11.2). Messages name Secret and key, never content. */
export async function resolveCredentials(
  spec: GitProviderSpec,
  namespace: string,
  reader: SecretReader,
  signal: AbortSignal,
): Promise<CredentialsVerdict> {
  const trust = spec.tls?.caRef;
  const authorities: string[] = [];
  const versions: string[] = [];
  if (trust !== undefined) {
    const kind = trust.kind ?? 'ConfigMap';
    const title = `spec.tls.caRef: ${kind} ${namespace}/${trust.name}`;
    const content = await reader.read(kind, namespace, trust.name, signal);
    if (content.kind === 'unreadable') return { kind: 'unreadable', message: `spec.tls.caRef: ${content.message}` };
    if (content.kind === 'missing')
      return { kind: 'refused', reason: 'TrustNotFound', message: `${title} does not exist; create it` };
    const pem = first(content, CA_KEYS);
    if (pem === undefined || !CERTIFICATE.test(pem))
      return {
        kind: 'refused',
        reason: 'TrustMalformed',
        message: `${title} needs key ca.crt or caFile with PEM certificates`,
      };
    authorities.push(pem);
    versions.push(`trust ${kind} ${trust.name} ${content.resourceVersion}`);
  }
  if (spec.secretRef === undefined)
    return {
      kind: 'resolved',
      access: access(spec.url, undefined, authorities),
      version: versions.join('/'),
      isAnonymous: true,
    };

  const { name } = spec.secretRef;
  const title = `spec.secretRef: Secret ${namespace}/${name}`;
  const content = await reader.read('Secret', namespace, name, signal);
  if (content.kind === 'unreadable') return { kind: 'unreadable', message: `spec.secretRef: ${content.message}` };
  if (content.kind === 'missing')
    return { kind: 'refused', reason: 'SecretNotFound', message: `${title} does not exist; create it` };
  const credentials = credentialsIn(content.values);
  if (typeof credentials === 'string')
    return { kind: 'refused', reason: 'SecretMalformed', message: `${title} ${credentials}` };
  const own = first(content, CA_KEYS);
  if (own !== undefined) authorities.push(own);
  return {
    kind: 'resolved',
    access: access(spec.url, credentials, authorities),
    version: [...versions, `secret ${name} ${content.resourceVersion}`].join('/'),
    isAnonymous: false,
  };
}

function access(
  url: string,
  credentials: RepositoryAccess['credentials'],
  authorities: readonly string[],
): RepositoryAccess {
  return {
    url,
    ...(credentials === undefined ? {} : { credentials }),
    ...(authorities.length === 0 ? {} : { ca: authorities.join('\n') }),
  };
}

/** What is wrong, as the end of a sentence about the Secret, or the credential. */
function credentialsIn(values: ReadonlyMap<string, string>): string | NonNullable<RepositoryAccess['credentials']> {
  for (const key of ['ssh-privatekey', 'identity', 'sshPrivateKey']) {
    if (values.has(key))
      return `holds an SSH key (${key}), which an http(s) URL cannot use; give password or bearerToken`;
  }
  for (const key of ['tls.crt', 'tls.key', 'tlsClientCertData', 'tlsClientCertKey']) {
    if (values.has(key))
      return `holds a client certificate (${key}), which this version cannot use; give password or bearerToken alone`;
  }
  const password = values.get('password');
  if (password !== undefined) return { kind: 'basic', username: values.get('username') ?? '', password };
  if (values.has('username')) return 'has username without password; add password';
  const token = values.get('bearerToken');
  if (token !== undefined) return { kind: 'bearer', token };
  if (values.has('githubAppID'))
    return 'holds a GitHub App, which this version cannot use; give password or bearerToken';
  return 'holds no known method: an SSH key (ssh-privatekey), basic (password, optional username), bearer (bearerToken) or a GitHub App (githubAppID, ...)';
}

const first = (
  content: Extract<SecretContent, { readonly kind: 'found' }>,
  keys: readonly string[],
): string | undefined => keys.map((key) => content.values.get(key)).find((value) => value !== undefined);
