import type { KubeObject, ObjectRef, Refusal, SourceNamespace, TargetSettings } from '@gitops-reverser/kernel-api';
import type { Identity } from './documents.js';

/** How documents of one target carry their namespace (chapter 20, 7.7). */
export class NamespaceRule {
  readonly isWritten: boolean;
  private readonly admitted: readonly SourceNamespace[];

  constructor({
    serializeNamespace,
    sourceNamespaces,
  }: Pick<TargetSettings, 'serializeNamespace' | 'sourceNamespaces'>) {
    this.isWritten = serializeNamespace !== false;
    this.admitted = sourceNamespaces ?? [];
  }

  /** A folder without namespaces cannot tell the objects of two apart. Nothing of the target is written before it is one. */
  refusal(ref?: ObjectRef): Refusal | undefined {
    if (this.isWritten || (ref !== undefined && ref.namespace === undefined)) return undefined;
    const isOne = this.admitted.length === 1 && this.bare !== '*';
    if (isOne && (ref === undefined || ref.namespace === this.bare)) return undefined;
    // Whoever only looks at a folder declares nothing and asks for nothing.
    if (ref === undefined && this.admitted.length === 0) return undefined;
    const found = [...this.admitted].sort((a, b) => (a.name < b.name ? -1 : 1)).map(told);
    const what = ref === undefined ? '' : `${ref.kind} ${ref.namespace}/${ref.name}: `;
    return {
      code: 'multiple-source-namespaces',
      message: `${what}expected one source namespace because spec.serializeNamespace is false, found ${found.join(' and ') || 'none'}; follow one, or let documents carry their namespace`,
      whole: true,
      ...(ref === undefined ? {} : { ref }),
    };
  }

  /** What documents without a namespace stand for. */
  get bare(): string | undefined {
    return this.isWritten ? undefined : this.admitted[0]?.name;
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

const told = ({ name, namedBy }: SourceNamespace): string =>
  namedBy.length === 0 ? name : `${name} (${namedBy.join(', ')})`;
