import { ReverserError, type JsonValue, type KubeObject } from '@gitops-reverser/kernel-api';

export interface KubeconfigSecretRef {
  readonly namespace: string;
  readonly name: string;
  /** Absent: `value`, else `value.yaml`; nothing else is tried (10, 11.5). */
  readonly key?: string;
}

export interface KubeconfigText {
  readonly text: string;
  /** For the messages of everything that follows: the owner, the Secret and the key the text came from. */
  readonly where: string;
}

/**
 * The kubeconfig a Secret holds.
 *
 * @param secret as read from the API; `undefined` when it does not exist
 * @param owner for messages: `KubeProvider "prod"`
 * @throws ReverserError `KubeConfigSecretNotFound` or `KubeConfigKeyNotFound`
 */
export function readKubeconfigSecret(
  secret: KubeObject | undefined,
  ref: KubeconfigSecretRef,
  owner: string,
): KubeconfigText {
  const place = `${owner}: Secret ${ref.namespace}/${ref.name}`;
  if (secret === undefined)
    throw refusal('KubeConfigSecretNotFound', `${place} does not exist; create it, or correct the reference`);
  const keys = ref.key === undefined ? ['value', 'value.yaml'] : [ref.key];
  const data = secret['data'];
  for (const key of keys) {
    const value = isMap(data) ? data[key] : undefined;
    const text = typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
    if (text.trim() !== '') return { text, where: `${place} key ${JSON.stringify(key)}` };
  }
  const wanted = keys.map((key) => JSON.stringify(key)).join(' or ');
  throw refusal(
    'KubeConfigKeyNotFound',
    `${place} has no key ${wanted} with a kubeconfig in it; add it, or name the right key`,
  );
}

function refusal(reason: 'KubeConfigSecretNotFound' | 'KubeConfigKeyNotFound', message: string): ReverserError {
  return new ReverserError({ reason, retry: 'when-changed', message });
}

const isMap = (value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
