import { kindNames, kindOf, toCrd } from '@gitops-reverser/crd-types';
import { encodeYaml } from '@gitops-reverser/toolkit-yaml';
import type { GeneratedFile } from './generated-file.js';

/** One CRD a kind, `crds/manifests/<plural>.yaml`. */
export function manifestFiles(): readonly GeneratedFile[] {
  return kindNames.map((kind) => {
    const encoded = encodeYaml(toCrd(kind) as unknown as Parameters<typeof encodeYaml>[0]);
    if (!encoded.ok) throw new Error(`CRD of ${kind}: ${encoded.error.message}`);
    return {
      path: `crds/manifests/${kindOf(kind).plural}.yaml`,
      text: `# Generated from crds/types by \`npm run generate\`. Do not edit.\n${encoded.value}`,
    };
  });
}
