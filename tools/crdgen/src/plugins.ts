import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Bookkeeping, KeyRule, Plugin } from '@gitops-reverser/kernel-api';
import { plugin as argocd } from '@gitops-reverser/plugin-argocd';
import { plugin as flux } from '@gitops-reverser/plugin-flux';
import { plugin as kcp } from '@gitops-reverser/plugin-kcp';
import { FIELD_RULES, GENERATED_FILTERS, plugin as kubernetes } from '@gitops-reverser/plugin-kubernetes';
import { plugin as plain } from '@gitops-reverser/plugin-plain';
import type { GeneratedFile } from './generated-file.js';
import { code, generatedFrom, section, table } from './markdown.js';

/** Plugins of this repository, in the order of the page. */
export const plugins: readonly Plugin[] = [kubernetes, kcp, plain, flux, argocd];

const workspace = resolve(import.meta.dirname, '../../..');

/** `docs/reference/plugins.md`. */
export function pluginFiles(): readonly GeneratedFile[] {
  const parts = [
    generatedFrom('what the plugins declare'),
    '# Plugins',
    'The plugins of this repository, all of them part of the `default` set: what they add, which options they take, and every word they may say when something is not done.',
    table(
      ['Plugin', 'What it does', 'Points'],
      plugins.map((plugin) => [`[${plugin.id}](#${plugin.id})`, descriptionOf(plugin), pointsOf(plugin)]),
    ),
    ...plugins.map(describe),
  ];
  return [{ path: 'docs/reference/plugins.md', text: `${parts.join('\n\n')}\n` }];
}

function descriptionOf({ id }: Plugin): string {
  const text = readFileSync(join(workspace, 'plugins', id, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly description: string }).description;
}

const pointsOf = (plugin: Plugin): string =>
  [...new Set(plugin.contributions().map(({ point }) => point))].map(code).join(', ');

function describe(plugin: Plugin): string {
  const parts = [
    ...optionsOf(plugin),
    ...(plugin === kubernetes ? [...filters(), ...fields()] : []),
    ...plugin.contributions().flatMap(({ bookkeeping }) => keysOf(bookkeeping?.(defaultsOf(plugin)))),
    ...reasonsOf(plugin),
    ...(Object.keys(plugin.refusals).length === 0
      ? []
      : ['What its layouts and writers refuse: [refusals](refusals.md).']),
  ];
  return section(plugin.id, `${descriptionOf(plugin)}`, ...parts);
}

const defaultsOf = ({ options }: Plugin): unknown =>
  Object.fromEntries(Object.entries(options).map(([name, spec]) => [name, spec.default]));

function optionsOf({ options }: Plugin): readonly string[] {
  const rows = Object.entries(options).map(([name, { type, default: value, range, doc }]) => [
    code(name),
    type,
    code(JSON.stringify(value)),
    range === '' ? '' : code(range),
    doc,
  ]);
  return rows.length === 0
    ? ['No options.']
    : ['### Options', table(['Option', 'Type', 'Default', 'Range', 'Meaning'], rows)];
}

const filters = (): readonly string[] => [
  '### Objects that are not mirrored',
  'Ids for `spec.includeGenerated` (mirror after all; `*` for every one that is on) and `spec.excludeGenerated` (drop as well) of a target; the label `reason` of `objects_filtered_total`.',
  table(
    ['Filter', 'By default', 'Why'],
    GENERATED_FILTERS.map(({ id, on, doc }) => [code(id), on ? 'not mirrored' : 'mirrored', doc]),
  ),
];

const fields = (): readonly string[] => [
  'For a target that watches workloads beside their declarations, `excludeGenerated: [controller-owned, release-owned]` is the right choice: otherwise what a HelmRelease, a ResourceSet or an operator makes is mirrored beside what it was made from. Of an Argo CD that tracks by label the label `app.kubernetes.io/instance` reaches Git, as charts write it too: let it track by annotation.',
  '### Fields that are not written',
  'Of every object: `status`; of its own metadata everything but name, namespace, labels and annotations (finalizers that Git holds may stay while they are live); `creationTimestamp: null` in the metadata of embedded templates; the label `kubernetes.io/metadata.name` of a Namespace; the label `app.kubernetes.io/managed-by` where kustomize wrote its version there. Everything else is kept, defaults of the API server included, but for these:',
  table(
    ['Group', 'Kind', 'Not written'],
    FIELD_RULES.map(({ group, kind, doc }) => [group === '' ? 'core' : code(group), code(kind), doc]),
  ),
];

function keysOf(bookkeeping: Bookkeeping | undefined): readonly string[] {
  if (bookkeeping === undefined) return [];
  const rowsOf = (rules: readonly KeyRule[], what: string): readonly (readonly string[])[] =>
    rules.map(({ scope, match, value }) => [
      match === 'prefix' ? `${code(`${value}*`)}` : code(value),
      scope === 'labels' ? 'label' : 'annotation',
      what,
    ]);
  const rows = [...rowsOf(bookkeeping.strips, 'never reaches Git'), ...rowsOf(bookkeeping.keeps, 'kept')];
  return rows.length === 0
    ? []
    : ['### Bookkeeping', 'The narrower rule wins.', table(['Key', 'Of', 'What becomes of it'], rows)];
}

/** What is no refusal and no filter. */
function reasonsOf({ reasons, refusals }: Plugin): readonly string[] {
  const filterIds = new Set(GENERATED_FILTERS.map(({ id }) => id));
  const rows = Object.entries(reasons)
    .filter(([name]) => !Object.hasOwn(refusals, name) && !filterIds.has(name))
    .map(([name, meaning]) => [code(name), meaning]);
  return rows.length === 0 ? [] : ['### Reasons', table(['Reason', 'Cause and remedy'], rows)];
}
