import type { JsonValue } from '@gitops-reverser/kernel-api';
import { describeCorpus, memoryFolder, type FileContents } from '@gitops-reverser/kernel-testing';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import {
  canonicalPlacement,
  FolderCache,
  placeAll,
  readFolder,
  validatePlacement,
  type PlacementSpec,
} from './index.js';

interface Described {
  readonly path: string;
  readonly group: string;
  readonly version?: string;
  readonly resource: string;
  readonly name: string;
  readonly namespace?: string;
  readonly sensitive?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
}
interface Case {
  readonly id: string;
  readonly why?: string;
  readonly store: readonly Described[];
  readonly kustomizations?: readonly unknown[];
  readonly spec?: { readonly placement?: PlacementSpec };
  readonly new: Described;
  readonly expect: {
    readonly path?: string;
    readonly source?: string;
    readonly refusal?: string;
    readonly rejected?: string;
  };
}

/** The table knows plurals and needs no kinds: any one-to-one pair will do, built-in ones as they are. */
const builtInKinds: Readonly<Record<string, string>> = {
  configmaps: 'ConfigMap',
  deployments: 'Deployment',
  services: 'Service',
  secrets: 'Secret',
  clusterroles: 'ClusterRole',
  roles: 'Role',
  namespaces: 'Namespace',
};
const kindOf = (resource: string): string => builtInKinds[resource] ?? resource;

function fileOf({ group, version = 'v1', resource, name, namespace, path }: Described): string {
  const sops = path.endsWith('.sops.yaml') ? 'sops: {mac: x}\n' : '';
  const where = namespace === undefined ? '' : `, namespace: ${namespace}`;
  return `apiVersion: ${group === '' ? version : `${group}/${version}`}\nkind: ${kindOf(resource)}\nmetadata: {name: "${name}"${where}}\n${sops}`;
}

function parse(bytes: Uint8Array): JsonValue {
  const documents = parseDocuments(bytes);
  const first = documents.ok ? documents.value[0] : undefined;
  if (first?.state !== 'read') throw new Error('expected a document that can be read');
  return first.value;
}

/** What a case asks for that this runner has no answer to. */
function checkKnown({ spec = {}, expect: wanted }: Case): void {
  const known = new Set(['path', 'source', 'refusal', 'rejected', 'disposition']);
  const { placement: _, ...otherSettings } = spec;
  const unknown = [...Object.keys(otherSettings), ...Object.keys(wanted).filter((key) => !known.has(key))];
  if (unknown.length > 0) throw new Error(`the case speaks of what this runner does not know: ${unknown.join(', ')}`);
}

describeCorpus({ suite: 'placement', parse, fields: [] }, (each, { at, read }) => {
  const { path, verdict, reason } = each;
  const table = read(at(each)) as unknown as { readonly cases: readonly Case[] };
  const found = table.cases.find(({ id }) => path.endsWith(`#${id}`));
  if (found?.kustomizations !== undefined) {
    it.skip(`${path}: Kustomize folders are another layout's`, () => undefined);
    return;
  }

  (verdict === undefined ? it.skip : it)(`${path}: ${found?.why ?? ''}`, () => {
    if (found === undefined) throw new Error('the table has no case of that id');
    checkKnown(found);
    const { spec, store, new: fresh, expect: wanted } = found;
    const policy =
      spec?.placement === undefined
        ? { ok: true as const, value: canonicalPlacement }
        : validatePlacement(spec.placement);
    expect({ rejected: !policy.ok }).toEqual({ rejected: wanted.rejected !== undefined });
    if (!policy.ok) return;
    const files: FileContents = Object.fromEntries(store.map((document) => [document.path, fileOf(document)]));
    const { group, version = 'v1', resource, name, namespace, labels = {}, sensitive = false } = fresh;
    const ref = {
      ...{ group, version, resource, kind: kindOf(resource), name },
      ...(namespace === undefined ? {} : { namespace }),
    };

    const [placed] = placeAll(
      [{ ref, labels, sensitive }],
      policy.value,
      readFolder(memoryFolder(files), new FolderCache()),
    );

    expect(placed?.ok).toBe(verdict === 'accepted');
    if (each.isOverridden) return;
    if (placed?.ok === false) expect([placed.error.code, placed.error.code]).toEqual([wanted.refusal, reason]);
    else expect(placed).toMatchObject({ value: wanted });
  });
});
