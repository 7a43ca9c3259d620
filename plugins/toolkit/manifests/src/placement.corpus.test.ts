import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { memoryFolder, type FileContents } from '@gitops-reverser/kernel-testing';
import { parseDocuments, type YamlReading } from '@gitops-reverser/toolkit-yaml';
import {
  canonicalPlacement,
  FolderCache,
  placeAll,
  readFolder,
  validatePlacement,
  type PlacementSpec,
} from './index.js';

const corpus = process.env['CORPUS_DIR'] ?? resolve(import.meta.dirname, '../../../../../shared/corpus');
const table = join(corpus, 'placement/cases.yaml');

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

const isThere = existsSync(table);
if (!isThere) process.stderr.write(`SKIPPED: no corpus at ${corpus}; set CORPUS_DIR to run the suite placement\n`);

(isThere ? describe : describe.skip)('corpus suite placement', () => {
  const parsed = isThere ? parseDocuments(readFileSync(table)) : undefined;
  const reading = (parsed?.ok === true ? parsed.value[0] : undefined) as YamlReading | undefined;
  const cases = reading?.state === 'read' ? (reading.value as unknown as { cases: readonly Case[] }).cases : [];

  // Kustomize folders are another layout's.
  for (const each of cases.filter(({ kustomizations }) => kustomizations === undefined)) {
    it(each.id, () => {
      const { spec, store, new: fresh, expect: wanted } = each;
      const policy =
        spec?.placement === undefined
          ? { ok: true as const, value: canonicalPlacement }
          : validatePlacement(spec.placement);
      expect(policy.ok).toBe(wanted.rejected === undefined);
      if (!policy.ok) return;
      const files: FileContents = Object.fromEntries(store.map((document) => [document.path, fileOf(document)]));
      const { group, version = 'v1', resource, name, namespace, labels = {}, sensitive = false } = fresh;
      const ref = {
        group,
        version,
        resource,
        kind: kindOf(resource),
        name,
        ...(namespace === undefined ? {} : { namespace }),
      };
      const [placed] = placeAll(
        [{ ref, labels, sensitive }],
        policy.value,
        readFolder(memoryFolder(files), new FolderCache()),
      );

      if (wanted.refusal !== undefined) expect(placed).toMatchObject({ ok: false, error: { code: wanted.refusal } });
      else expect(placed).toMatchObject({ ok: true, value: { path: wanted.path, source: wanted.source } });
    });
  }
});
