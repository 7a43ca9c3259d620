import { noStripRules, ok, refuse, type ObjectRef, type Result, type StripRules } from '@gitops-reverser/kernel-api';
import { isArtifactName } from './folder-roles.js';

export const placementVariables = [
  'group',
  'groupPath',
  'version',
  'apiVersion',
  'resource',
  'kind',
  'scope',
  'namespace',
  'name',
  'sensitiveSuffix',
] as const;
export type PlacementVariable = (typeof placementVariables)[number];

export type TemplatePart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: PlacementVariable; readonly fallback?: string }
  | { readonly kind: 'label'; readonly key: string; readonly fallback?: string };

export interface PlacementTemplate {
  readonly text: string;
  readonly parts: readonly TemplatePart[];
}

/** What a template is rendered with. */
export interface PlacementSubject {
  readonly ref: ObjectRef;
  readonly labels: Readonly<Record<string, string>>;
  readonly sensitive: boolean;
}

const longestTemplate = 512;

/**
 * A message for whoever wrote the template: what was found, what is expected.
 *
 * @param rules a path made from a label that never reaches Git would always take its fallback
 */
export function parsePlacementTemplate(
  text: string,
  rules: StripRules = noStripRules,
): Result<PlacementTemplate, string> {
  if (text.length > longestTemplate)
    return refuse(`a template has at most ${longestTemplate} characters, this one ${text.length}`);
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{', at);
    const literal = text.slice(at, open === -1 ? text.length : open);
    if (literal.includes('}')) return refuse(`unbalanced "}" in "${text}"; ${listVariables()}`);
    if (literal !== '') parts.push({ kind: 'literal', text: literal });
    if (open === -1) break;
    const close = text.indexOf('}', open);
    if (close === -1 || text.slice(open + 1, close).includes('{'))
      return refuse(`unbalanced "{" in "${text}"; ${listVariables()}`);
    const placeholder = parsePlaceholder(text.slice(open + 1, close), rules);
    if (!placeholder.ok) return placeholder;
    parts.push(placeholder.value);
    at = close + 1;
  }
  const problem = checkShape(text, parts);
  return problem === undefined ? ok({ text, parts }) : refuse(problem);
}

const listVariables = (): string =>
  `variables are ${placementVariables.map((name) => `{${name}}`).join(', ')}, {label:KEY}`;

function parsePlaceholder(source: string, rules: StripRules): Result<TemplatePart, string> {
  if (source === '') return refuse(`empty placeholder {}; ${listVariables()}`);
  const bar = source.indexOf('|');
  const name = bar === -1 ? source : source.slice(0, bar);
  const fallback = bar === -1 ? undefined : source.slice(bar + 1);
  if (name === 'namespaceOrCluster')
    return refuse('{namespaceOrCluster} is removed: {namespace} already renders _cluster for cluster-scoped objects');
  if (name.startsWith('label:')) return parseLabel(source, name.slice('label:'.length), fallback, rules);
  if (!isVariable(name)) return refuse(`unknown variable {${source}}; ${listVariables()}`);
  if (fallback === undefined) return ok({ kind: 'variable', name });
  if (name !== 'namespace') return refuse(`{${source}}: ${name} always has a value and takes no fallback`);
  const problem = checkFallback(source, fallback);
  if (problem !== undefined) return refuse(problem);
  if (isDnsLabel(fallback))
    return refuse(`{${source}}: a namespace may be called ${fallback} and would share its files; use _${fallback}`);
  return ok({ kind: 'variable', name, fallback });
}

function parseLabel(
  source: string,
  key: string,
  fallback: string | undefined,
  rules: StripRules,
): Result<TemplatePart, string> {
  if (!isQualifiedName(key))
    return refuse(`{${source}}: "${key}" is no label key; expected name or prefix/name as Kubernetes spells them`);
  const rule = rules.strippedBy('labels', key);
  if (rule !== undefined)
    return refuse(
      `{${source}}: label ${key} never reaches Git (${rule.value}${rule.match === 'prefix' ? '*' : ''} is stripped), so no path can be made from it`,
    );
  if (fallback === undefined) return ok({ kind: 'label', key });
  const problem = checkFallback(source, fallback);
  return problem === undefined ? ok({ kind: 'label', key, fallback }) : refuse(problem);
}

function checkFallback(source: string, fallback: string): string | undefined {
  const isLegal = fallback === '' || (/^[A-Za-z0-9._-]{1,63}$/.test(fallback) && fallback !== '.' && fallback !== '..');
  return isLegal ? undefined : `{${source}}: a fallback is empty or 1 to 63 of A-Z a-z 0-9 . _ - and not . or ..`;
}

function checkShape(text: string, parts: readonly TemplatePart[]): string | undefined {
  if (text === '') return 'the template is empty';
  if (/[\x00-\x1f\x7f]/.test(text)) return `"${text.replace(/[^ -~]/g, '?')}" holds a control character`;
  const literals = parts.map((part) => (part.kind === 'literal' ? part.text : '\0')).join('');
  if (literals.startsWith('/')) return `"${text}" is absolute; paths are relative to spec.path`;
  if (literals.includes('\\')) return `"${text}" holds a backslash; separate segments with /`;
  const segments = literals.split('/');
  if (segments.includes('..')) return `"${text}" holds a .. segment; paths stay below spec.path`;
  if (segments.includes('.')) return `"${text}" holds a . segment`;
  const last = parts.at(-1);
  const isFile =
    last?.kind === 'literal'
      ? /\.ya?ml$/.test(last.text)
      : last?.kind === 'variable' && last.name === 'sensitiveSuffix';
  if (!isFile) return `"${text}" must end in .yaml, .yml or {sensitiveSuffix}`;
  const fileName = segments.at(-1) ?? '';
  if (isArtifactName(fileName)) return `"${text}" would write ${fileName}, which is no manifest`;
  return undefined;
}

/** The text before encoding of its values; `encode` sees every value and no literal. */
export function renderTemplate(
  template: PlacementTemplate,
  subject: PlacementSubject,
  encode: (value: string) => string,
): string {
  let path = '';
  for (const part of template.parts) path += part.kind === 'literal' ? part.text : encode(valueOf(part, subject));
  return path;
}

function valueOf(
  part: Exclude<TemplatePart, { kind: 'literal' }>,
  { ref, labels, sensitive }: PlacementSubject,
): string {
  if (part.kind === 'label') {
    const value = Object.hasOwn(labels, part.key) ? labels[part.key] : undefined;
    return value === undefined || value === '' ? (part.fallback ?? '_unlabeled') : value;
  }
  switch (part.name) {
    case 'group':
    case 'groupPath':
      return ref.group;
    case 'version':
      return ref.version;
    case 'apiVersion':
      return ref.group === '' ? ref.version : `${ref.group}/${ref.version}`;
    case 'resource':
      return ref.resource;
    case 'kind':
      return ref.kind;
    case 'scope':
      return ref.namespace === undefined ? 'cluster' : 'namespaced';
    case 'namespace':
      return ref.namespace ?? part.fallback ?? '_cluster';
    case 'name':
      return ref.name;
    case 'sensitiveSuffix':
      return sensitive ? '.sops.yaml' : '.yaml';
  }
}

/** Whether the path tells every object apart; a default is also shared by types. The version does not count. */
export function isIdentityComplete(template: PlacementTemplate, isDefault: boolean): boolean {
  const names = new Set(template.parts.map((part) => (part.kind === 'variable' ? part.name : undefined)));
  if (!names.has('name') || !names.has('namespace')) return false;
  return !isDefault || ((names.has('group') || names.has('groupPath')) && names.has('resource'));
}

function isVariable(name: string): name is PlacementVariable {
  return (placementVariables as readonly string[]).includes(name);
}

const isDnsLabel = (text: string): boolean => /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
const isDnsSubdomain = (text: string): boolean =>
  text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text);

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (!/^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(name)) return false;
  return slash === -1 || isDnsSubdomain(key.slice(0, slash));
}
