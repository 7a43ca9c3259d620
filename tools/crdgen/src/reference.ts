import {
  category,
  group,
  kindNames,
  kindOf,
  retiredFields,
  retiredShapes,
  retiredTexts,
  version,
  type ConditionRow,
  type Field,
  type KindName,
  type Level,
  type Node,
  type ReasonRow,
  type Rule,
} from '@gitops-reverser/crd-types';
import type { GeneratedFile } from './generated-file.js';
import { code, generatedFrom, section, table } from './markdown.js';

const mark = generatedFrom('crds/types');

/** The reference of the kinds: one page a kind and an index, `docs/reference/<plural>.md`. */
export function referenceFiles(): readonly GeneratedFile[] {
  return [
    { path: 'docs/reference/kinds.md', text: index() },
    ...kindNames.map((kind) => ({ path: `docs/reference/${kindOf(kind).plural}.md`, text: page(kind) })),
  ];
}

function index(): string {
  const rows = kindNames.map((kind) => {
    const { plural, shortNames, scope, doc } = kindOf(kind);
    return [`[${kind}](${plural}.md)`, code(plural), shortNames.map(code).join(', '), scope, doc];
  });
  return [
    mark,
    '# Kinds',
    `Group ${code(group)}, version ${code(version)}. \`kubectl get ${category} -A\` lists them all.`,
    table(['Kind', 'Plural', 'Short', 'Scope', 'What it is'], rows),
    'What is not written says why: [refusals](refusals.md). What the parts of the program add: [plugins](plugins.md).',
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/u, '\n');
}

function page(kind: KindName): string {
  const { plural, shortNames, scope, doc, spec, status, conditions, ready, columns } = kindOf(kind);
  const specFields = fieldsBelow(spec.node, 'spec');
  const parts = [
    mark,
    `# ${kind}`,
    doc,
    `${scope === 'Cluster' ? 'Cluster-scoped' : 'Namespaced'}. Plural ${code(plural)}, short ${shortNames.map(code).join(', ')}.`,
    section('Spec', fieldTable(specFields)),
    section(
      'Rules',
      table(
        ['Rule', 'Where', 'Says'],
        rulesBelow(spec.node, 'spec').map(({ rule, path }) => [rule.id, code(path), rule.message]),
      ),
    ),
    section('Status', fieldTable(fieldsBelow(status.node, 'status'))),
    section(
      'Conditions',
      'First `Ready`, `Reconciling` and `Stalled`: exactly one of them is True, all three with the same reason and message. Then, in the order in which they decide:',
      table(
        ['Type', 'Meaning', 'Status and reasons'],
        conditions.map((row) => [code(row.type), row.doc, reasonsOf(row)]),
      ),
      ...(ready.length === 0 ? [] : [`\`Ready\` itself: ${ready.map(reasonText).join('; ')}.`]),
      '**S** stalls: a person must change something. **P** progresses: time may cure it. **-** does not move the trio.',
    ),
    section(
      'Columns',
      table(
        ['Column', 'From', 'Shown'],
        columns.map(({ name, path, wide }) => [name, code(path), wide ? 'with `-o wide`' : 'always']),
      ),
    ),
    ...retiredSection(kind),
  ];
  return `${parts.join('\n\n')}\n`;
}

interface Listed {
  readonly path: string;
  readonly field: Field;
}
function fieldsBelow(node: Node, path: string): readonly Listed[] {
  switch (node.type) {
    case 'object':
      return Object.entries(node.fields).flatMap(([name, field]) => [
        { path: `${path}.${name}`, field },
        ...(name === 'conditions' ? [] : fieldsBelow(field.node, `${path}.${name}`)),
      ]);
    case 'list':
      return fieldsBelow(node.item, `${path}[]`);
    case 'map':
      return fieldsBelow(node.value, `${path}.*`);
    case 'string':
    case 'integer':
    case 'boolean':
    case 'int-or-string':
      return [];
  }
}
const fieldTable = (fields: readonly Listed[]): string =>
  table(
    ['Field', 'Type', 'Default', 'Meaning'],
    fields.map(({ path, field }) => [
      code(path),
      `${typeText(field.node)}${field.node.immutable ? ', immutable' : ''}`,
      defaultText(field),
      field.node.doc,
    ]),
  );

function defaultText({ node, presence }: Field): string {
  if (presence === 'required') return '**required**';
  if (node.default !== undefined) return code(JSON.stringify(node.default));
  return node.defaultDoc ?? '';
}
function typeText(node: Node): string {
  switch (node.type) {
    case 'string': {
      if (node.values !== undefined) return node.values.map(code).join(', ');
      if (node.format !== undefined) return 'time';
      const length = node.min === undefined ? `up to ${node.max}` : `${node.min} to ${node.max}`;
      return `text, ${length}${node.pattern === undefined ? '' : `, ${code(node.pattern)}`}`;
    }
    case 'integer':
      return node.max === undefined ? 'integer' : `integer, ${node.min ?? 0} to ${node.max}`;
    case 'boolean':
      return 'boolean';
    case 'int-or-string':
      return `integer or text, ${code(node.pattern)}`;
    case 'list':
      return `${node.list === 'atomic' ? 'list' : node.list === 'set' ? 'set' : `list by ${node.key}`}, ${node.min ?? 0} to ${node.max}, of ${innerText(node.item)}`;
    case 'map':
      return `map, 0 to ${node.max}, of ${innerText(node.value)}`;
    case 'object':
      return 'object';
  }
}
const innerText = (node: Node): string => (node.type === 'object' ? 'objects' : typeText(node));

function rulesBelow(node: Node, path: string): readonly { readonly rule: Rule; readonly path: string }[] {
  const own = node.rules.map((rule) => ({ rule, path: `${path}${rule.fieldPath ?? ''}` }));
  switch (node.type) {
    case 'object':
      return [
        ...own,
        ...Object.entries(node.fields).flatMap(([name, field]) => rulesBelow(field.node, `${path}.${name}`)),
      ];
    case 'list':
      return [...own, ...rulesBelow(node.item, `${path}[]`)];
    case 'map':
      return [...own, ...rulesBelow(node.value, `${path}.*`)];
    case 'string':
    case 'integer':
    case 'boolean':
    case 'int-or-string':
      return own;
  }
}

const letters: Readonly<Record<Level, string>> = { ok: '', none: '-', progress: 'P', stalled: 'S' };
const reasonText = ({ status, reasons, levels }: ReasonRow): string => {
  const level = levels.map((one) => letters[one]).filter((letter) => letter !== '');
  return `${status} ${reasons.map(code).join(', ')}${level.length === 0 ? '' : ` (**${level.join('** or **')}**)`}`;
};
function reasonsOf(row: ConditionRow): string {
  if (row.mirrors) return 'status and reason of the mirrored object';
  return `${row.rows.map(reasonText).join('; ')}${row.optional && row.gate ? '; may be absent' : ''}`;
}

function retiredSection(kind: KindName): readonly string[] {
  const of = <T extends { readonly kind: KindName }>(entries: readonly T[]): readonly T[] =>
    entries.filter((entry) => entry.kind === kind);
  const rows = [
    ...of(retiredFields).map(({ path, refusedAt, replacedBy, message, since, removableFrom, prunesOpen }) => [
      code(refusedAt === undefined ? path : `${path}: ${String(refusedAt)}`),
      replacedBy === undefined ? 'none' : code(replacedBy),
      message,
      since,
      `${removableFrom}${prunesOpen ? ' (its absence permits more)' : ''}`,
    ]),
    ...of(retiredShapes).map(({ path, message }) => [`${code(path)} as text`, 'the object form', message, '', '']),
    ...of(retiredTexts).map(({ word, replacedBy }) => [
      word,
      code(replacedBy),
      `${word} is retired: use ${replacedBy}`,
      '',
      '',
    ]),
  ];
  return rows.length === 0
    ? []
    : [section('Retired', table(['Spelling', 'Instead', 'Message', 'Since', 'May go in'], rows))];
}
