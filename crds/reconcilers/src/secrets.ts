import { messageOf, type JsonValue } from '@gitops-reverser/kernel-api';
import { isNotFound, type KubeClient } from '@gitops-reverser/toolkit-kube';

export type SecretContent =
  | { readonly kind: 'found'; readonly resourceVersion: string; readonly values: ReadonlyMap<string, string> }
  | { readonly kind: 'missing' }
  /** Whether it is there cannot be told: whoever has what it held keeps it. */
  | { readonly kind: 'unreadable'; readonly message: string };

/** Reads Secrets and ConfigMaps by name, on use; never cached. An empty value counts as an absent key. */
export class SecretReader {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** @throws only the abort reason of `signal` */
  async read(
    kind: 'Secret' | 'ConfigMap',
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<SecretContent> {
    const resource = kind === 'Secret' ? 'secrets' : 'configmaps';
    try {
      const object = await this.#client.get({ group: '', version: 'v1', resource, namespace, name }, signal);
      const values = new Map<string, string>();
      for (const [key, value] of Object.entries(asMap(object['data']))) {
        if (typeof value !== 'string') continue;
        const text = kind === 'Secret' ? Buffer.from(value, 'base64').toString('utf8') : value;
        if (text !== '') values.set(key, text);
      }
      return { kind: 'found', resourceVersion: object.metadata.resourceVersion ?? '', values };
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      if (isNotFound(thrown)) return { kind: 'missing' };
      return {
        kind: 'unreadable',
        message: `${kind} ${namespace}/${name} cannot be read: ${messageOf(thrown)}`,
      };
    }
  }
}

function asMap(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, JsonValue>)
    : {};
}
