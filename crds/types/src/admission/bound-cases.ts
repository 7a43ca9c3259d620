import { kindNames, kindOf, type KindName } from '../kinds/kinds.js';
import { retiredShapes } from '../retired.js';
import type { Node } from '../schema/schema.js';
import type { AdmissionCase } from './admission-case.js';
import { edited } from './edit.js';
import { anObject, fullSpecsOf } from './full-objects.js';
import { badByPattern } from './pattern-samples.js';

interface Probe {
  readonly what: string;
  readonly value: unknown;
  readonly refused: string;
}

/** Every bound, pattern, word list and required field of every kind, probed once from a full object. */
export function boundCases(): readonly AdmissionCase[] {
  return kindNames.flatMap((kind) =>
    fullSpecsOf(kind).flatMap((spec, variant) => [accepted(kind, spec, variant), ...refusals(kind, spec, variant)]),
  );
}

const accepted = (kind: KindName, spec: unknown, variant: number): AdmissionCase => ({
  name: `${kind} ${variant}: every field set`,
  id: 'full',
  object: anObject(kind, `full-${variant}`, spec),
});

function refusals(kind: KindName, spec: unknown, variant: number): readonly AdmissionCase[] {
  return visit(kindOf(kind).spec.node, spec, ['spec'], true).map(({ path, probe }): AdmissionCase => {
    const place = path.join('.').replaceAll(/\.(\d+)/gu, '[$1]');
    return {
      name: `${kind} ${variant}: ${place} ${probe.what}`,
      id: place,
      object: anObject(kind, 'probe', edited(spec, path.slice(1), probe.value)),
      refused: probe.refused,
      ...whenStored(kind, place, probe),
    };
  });
}

function whenStored(kind: KindName, place: string, { value }: Probe): Pick<AdmissionCase, 'refusedWhenStored'> {
  const shape = retiredShapes.find(
    (entry) => entry.kind === kind && entry.path === place && typeof value === entry.was,
  );
  return shape === undefined ? {} : { refusedWhenStored: shape.message };
}

interface Found {
  readonly path: readonly string[];
  readonly probe: Probe;
}
function visit(node: Node, value: unknown, path: readonly string[], required: boolean): readonly Found[] {
  if (value === undefined) return [];
  const own = probesOf(node, value).map((probe): Found => ({ path, probe }));
  const missing: readonly Found[] =
    required && path.length > 1
      ? [{ path, probe: { what: 'left out', value: undefined, refused: 'Required value' } }]
      : [];
  return [...missing, ...own, ...below(node, value, path)];
}
function below(node: Node, value: unknown, path: readonly string[]): readonly Found[] {
  switch (node.type) {
    case 'object':
      return Object.entries(node.fields).flatMap(([name, field]) =>
        visit(
          field.node,
          (value as Readonly<Record<string, unknown>>)[name],
          [...path, name],
          field.presence === 'required',
        ),
      );
    case 'list':
      return visit(node.item, (value as readonly unknown[])[0], [...path, '0'], false);
    case 'map': {
      const key = Object.keys(value as object)[0];
      return key === undefined
        ? []
        : visit(node.value, (value as Readonly<Record<string, unknown>>)[key], [...path, key], false);
    }
    case 'string':
    case 'integer':
    case 'boolean':
    case 'int-or-string':
      return [];
  }
}

function probesOf(node: Node, value: unknown): readonly Probe[] {
  switch (node.type) {
    case 'string':
      return stringProbes(node);
    case 'int-or-string':
      return [{ what: 'against its pattern', value: badByPattern[node.pattern]?.[0] ?? '', refused: 'should match' }];
    case 'integer':
      return [
        ...(node.min === undefined
          ? []
          : [{ what: `below ${node.min}`, value: node.min - 1, refused: `greater than or equal to ${node.min}` }]),
        ...(node.max === undefined
          ? []
          : [{ what: `above ${node.max}`, value: node.max + 1, refused: `less than or equal to ${node.max}` }]),
        { what: 'of another type', value: 'text', refused: 'must be of type integer' },
      ];
    case 'boolean':
      return [{ what: 'of another type', value: 'yes', refused: 'must be of type boolean' }];
    case 'list': {
      const [first] = value as readonly unknown[];
      return [
        {
          what: `with more than ${node.max} items`,
          value: Array.from({ length: node.max + 1 }, () => first),
          refused: `must have at most ${node.max} items`,
        },
        ...(node.min === undefined
          ? []
          : [{ what: 'empty', value: [], refused: `should have at least ${node.min} items` }]),
        ...(node.list === 'set' && node.max > 2
          ? [{ what: 'with an item twice', value: [first, first], refused: 'Duplicate value' }]
          : []),
      ];
    }
    case 'map': {
      const [first] = Object.entries(value as Readonly<Record<string, unknown>>);
      const entries = Array.from({ length: node.max + 1 }, (_, index): [string, unknown] => [
        `${first?.[0]}${index}`,
        first?.[1],
      ]);
      return [
        {
          what: `with more than ${node.max} entries`,
          value: Object.fromEntries(entries),
          refused: `must have at most ${node.max} items`,
        },
      ];
    }
    case 'object':
      return [{ what: 'of another type', value: 'text', refused: 'must be of type object' }];
  }
}

function stringProbes(node: Extract<Node, { readonly type: 'string' }>): readonly Probe[] {
  if (node.values !== undefined)
    return [{ what: 'none of its words', value: 'Sometimes', refused: 'supported values' }];
  return [
    {
      what: `longer than ${node.max}`,
      value: 'a'.repeat(node.max + 1),
      refused: `may not be more than ${node.max} bytes`,
    },
    ...(node.min === undefined
      ? []
      : [{ what: 'empty', value: '', refused: `should be at least ${node.min} chars long` }]),
    ...(node.pattern === undefined
      ? []
      : (badByPattern[node.pattern] ?? []).map((value) => ({
          what: `against its pattern: ${JSON.stringify(value)}`,
          value,
          refused: 'should match',
        }))),
  ];
}
