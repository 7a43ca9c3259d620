import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { apiVersion, isKindName, validateStored, type KindName } from '@gitops-reverser/crd-types';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';

const root = resolve(import.meta.dirname, '../../..');
const folder = join(root, 'crds/types/fixtures/examples');

interface Example {
  readonly file: string;
  readonly kind: string;
  readonly name: string;
  readonly object: unknown;
}
function documentsOf(file: string): readonly Example[] {
  const parsed = parseDocuments(readFileSync(join(folder, file)));
  if (!parsed.ok) throw new Error(`${file}: ${parsed.error.message}`);
  return parsed.value.flatMap((document) => {
    if (document.state === 'empty') return [];
    if (document.state !== 'read') throw new Error(`${file}: document ${document.index} does not parse`);
    const object = document.value as unknown as {
      readonly apiVersion: string;
      readonly kind: string;
      readonly metadata: { readonly name: string };
    };
    return object.apiVersion === apiVersion ? [{ file, kind: object.kind, name: object.metadata.name, object }] : [];
  });
}
const examples = readdirSync(folder).flatMap(documentsOf);

describe('20.10: the worked examples', () => {
  it('show every kind but the cluster rule', () => {
    const kinds = new Set(examples.map(({ kind }) => kind));

    expect([...kinds].filter(isKindName)).toHaveLength(9);
  });

  it.each(examples)('$file: $kind $name is legal', ({ kind, object }) => {
    expect(validateStored(kind as KindName, object)).toEqual([]);
  });
});
