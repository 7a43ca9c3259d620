import type { DesiredChange, KubeObject, ObjectRef, Refusal, TargetSettings } from '@gitops-reverser/kernel-api';
import type { Identity } from './documents.js';
import { severalNamespaces } from './refusals.js';

/** How documents of one target carry their namespace (chapter 20, 7.7). */
export class NamespaceRule {
  readonly isWritten: boolean;
  private readonly admitted: readonly string[] | undefined;
  /** What arrived, where nobody said what may. */
  private readonly seen = new Set<string>();

  constructor({
    serializeNamespace,
    sourceNamespaces,
  }: Pick<TargetSettings, 'serializeNamespace' | 'sourceNamespaces'>) {
    this.isWritten = serializeNamespace !== false;
    this.admitted = sourceNamespaces;
  }

  /** Takes note of a batch. */
  observe(changes: readonly DesiredChange[]): void {
    if (this.isWritten) return;
    for (const { ref } of changes) if (ref.namespace !== undefined) this.seen.add(ref.namespace);
  }

  /** A folder without namespaces cannot tell the objects of two apart. */
  refusal(ref?: ObjectRef): Refusal | undefined {
    if (this.isWritten || (ref !== undefined && ref.namespace === undefined)) return undefined;
    const names = [...new Set([...(this.admitted ?? []), ...this.seen])].sort();
    return names.length > 1 || names[0] === '*' ? severalNamespaces(names, ref) : undefined;
  }

  /** What documents without a namespace stand for. */
  get bare(): string | undefined {
    return this.isWritten ? undefined : (this.admitted?.[0] ?? [...this.seen][0]);
  }

  /** How a document may name the object, the likeliest first. */
  identities({ group, kind, name, namespace }: ObjectRef): readonly Identity[] {
    const bare = { group, kind, name };
    if (namespace === undefined) return [bare];
    const named = { ...bare, namespace };
    return this.isWritten ? [named] : [bare, named];
  }

  /** The object as it is written. */
  written(object: KubeObject): KubeObject {
    if (this.isWritten || object.metadata.namespace === undefined) return object;
    const { namespace: _, ...metadata } = object.metadata;
    // A spread keeps what the object echoes.
    return { ...object, metadata };
  }
}
