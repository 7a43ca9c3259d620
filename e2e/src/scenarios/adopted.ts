import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { customResourceDefinition } from './objects.js';

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures');

/** A repository as people write one; `orchard` in it is the namespace of the story. */
export async function readAdoptedRepository(namespace: string): Promise<Readonly<Record<string, string>>> {
  const dir = join(fixtures, 'adopted');
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  const files: Record<string, string> = {};
  for (const entry of found.filter((candidate) => candidate.isFile())) {
    const file = join(entry.parentPath, entry.name);
    const text = (await readFile(file, 'utf8')).replaceAll(/\borchard$|\borchard(?=[,"} ])/gm, namespace);
    const isFromWindows = entry.name === 'windows.yaml';
    files[file.slice(dir.length + 1)] = isFromWindows ? `\uFEFF${text.replaceAll('\n', '\r\n')}` : text;
  }
  return files;
}

/** Compares with the recorded text of that name; `UPDATE_GOLDEN=1` records it anew. */
export async function recorded(name: string, text: string, namespace: string): Promise<string> {
  const file = join(fixtures, name);
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(file, text.replaceAll(namespace, 'orchard'));
  return (await readFile(file, 'utf8')).replaceAll(/\borchard\b/g, namespace);
}

/** The kinds the repository uses beside the built-in ones. */
export const adoptedKinds = `
${customResourceDefinition('trees', 'Tree')}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec:
  group: helm.toolkit.fluxcd.io
  names: {kind: HelmRelease, listKind: HelmReleaseList, plural: helmreleases, singular: helmrelease, shortNames: [hr]}
  scope: Namespaced
  versions:
    - name: v2
      served: true
      storage: true
      subresources: {status: {}}
      schema: &schema
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [interval]
              properties:
                interval: {type: string, pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$'}
                chart:
                  type: object
                  required: [spec]
                  properties:
                    spec:
                      type: object
                      required: [chart, sourceRef]
                      properties:
                        chart: {type: string}
                        version: {type: string, default: '*'}
                        reconcileStrategy: {type: string, enum: [ChartVersion, Revision], default: ChartVersion}
                        sourceRef:
                          type: object
                          required: [name]
                          properties: {kind: {type: string}, name: {type: string}, namespace: {type: string}}
                        valuesFiles: {type: array, items: {type: string}}
                values: {x-kubernetes-preserve-unknown-fields: true}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
    - name: v2beta2
      served: true
      storage: false
      deprecated: true
      subresources: {status: {}}
      schema: *schema
`;
