import type { JsonValue } from '@gitops-reverser/kernel-api';
import { isNotFound, type KubeClient } from '@gitops-reverser/toolkit-kube';

export type SecretContent =
  | { readonly kind: 'found'; readonly resourceVersion: string; readonly values: ReadonlyMap<string, string> }
  | { readonly kind: 'missing' };

/** Reads Secrets and ConfigMaps by name, on use; never cached. An empty value counts as an absent key. */
export class SecretReader {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** @throws KubeError for anything but "not there": the caller keeps what it has */
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
      if (isNotFound(thrown)) return { kind: 'missing' };
      throw thrown;
    }
  }
}

function asMap(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, JsonValue>)
    : {};
}
