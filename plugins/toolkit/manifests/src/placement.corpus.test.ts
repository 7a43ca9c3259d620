import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { describeCorpus, type FileContents } from '@gitops-reverser/kernel-testing';
import { encodeYaml, parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { canonicalPlacement, placeAll, validatePlacement, type PlacementSpec } from './index.js';
import { siteOf } from './placement-site.fixture.js';

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
  readonly kustomizations?: readonly ({ readonly path: string } & JsonObject)[];
  readonly spec?: { readonly placement?: PlacementSpec; readonly serializeNamespace?: boolean };
  readonly new: Described;
  readonly expect: {
    readonly path?: string;
    readonly source?: string;
    readonly refusal?: string;
    readonly rejected?: string;
    readonly registersIn?: string;
    readonly namespaceWritten?: boolean;
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

function encoded(kustomization: JsonObject): string {
  const text = encodeYaml(kustomization);
  if (!text.ok) throw new Error(text.error.message);
  return text.value;
}

const expectations = ['path', 'source', 'refusal', 'rejected', 'disposition', 'registersIn', 'namespaceWritten'];

/** What is asserted of an expectation; the log names the rest, so that nothing passes unseen. */
function known(path: string, wanted: Case['expect']): object {
  const others = Object.keys(wanted).filter((key) => !expectations.includes(key));
  if (others.length > 0) process.stderr.write(`NOT ASSERTED: ${others.join(', ')} of ${path}\n`);
  return Object.fromEntries(Object.entries(wanted).filter(([key]) => expectations.includes(key)));
}

/** A setting nobody here knows would change what is right. */
function checkSettings({ spec = {} }: Case): void {
  const { placement: _, serializeNamespace: __, ...others } = spec;
  const names = Object.keys(others);
  if (names.length > 0) throw new Error(`the case sets what this runner does not know: ${names.join(', ')}`);
}

describeCorpus({ suite: 'placement', parse, fields: [] }, (each, { at, read }) => {
  const { path, verdict, reason } = each;
  const table = read(at(each)) as unknown as { readonly cases: readonly Case[] };
  const found = table.cases.find(({ id }) => path.endsWith(`#${id}`));
  (verdict === undefined ? it.skip : it)(`${path}: ${found?.why ?? ''}`, () => {
    if (found === undefined) throw new Error('the table has no case of that id');
    checkSettings(found);
    const { spec, store, new: fresh, expect: wanted } = found;
    const policy =
      spec?.placement === undefined
        ? { ok: true as const, value: canonicalPlacement }
        : validatePlacement(spec.placement);
    expect({ rejected: !policy.ok }).toEqual({ rejected: wanted.rejected !== undefined });
    if (!policy.ok) return;
    const files: FileContents = Object.fromEntries([
      ...store.map((document) => [document.path, fileOf(document)]),
      ...(found.kustomizations ?? []).map(({ path: at, ...kustomization }) => [at, encoded(kustomization)]),
    ]);
    const { group, version = 'v1', resource, name, namespace, labels = {}, sensitive = false } = fresh;
    const ref = {
      ...{ group, version, resource, kind: kindOf(resource), name },
      ...(namespace === undefined ? {} : { namespace }),
    };

    const [placed] = placeAll([{ ref, labels, sensitive }], policy.value, siteOf(files));

    expect(placed?.ok).toBe(verdict === 'accepted');
    if (each.isOverridden) return;
    if (placed?.ok === false) expect([placed.error.code, placed.error.code]).toEqual([wanted.refusal, reason]);
    else if (placed?.ok === true) {
      const { isNamespaceSupplied = false, ...value } = placed.value;
      expect({ ...value, namespaceWritten: spec?.serializeNamespace ?? !isNamespaceSupplied }).toMatchObject(
        known(path, wanted),
      );
    }
  });
});
