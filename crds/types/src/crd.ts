import { category, group, version } from './kind.js';
import { kindOf, type KindName } from './kinds/kinds.js';
import { toStructural, type JsonObject } from './schema/structural.js';

export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: JsonObject;
}

/** The CRD of a kind: one version, served and stored, with the status subresource. */
export function toCrd(kind: KindName): CustomResourceDefinition {
  const { plural, singular, shortNames, scope, doc, spec, status, columns } = kindOf(kind);
  const schema: JsonObject = {
    type: 'object',
    description: doc,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: `Always ${group}/${version}.` },
      kind: { type: 'string', description: `Always ${kind}.` },
      metadata: { type: 'object' },
      spec: toStructural(kind, spec.node, 'spec'),
      status: toStructural(kind, status.node, 'status'),
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: [category] },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns.map(({ name, path, type, doc: description, wide }) => ({
            name,
            type,
            jsonPath: path,
            description,
            priority: wide ? 1 : 0,
          })),
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}
