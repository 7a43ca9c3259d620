import { durationMaxLength, durationPattern, isDurationWithin } from '../duration.js';
import { isBranchName, isFolderPath } from '../formats.js';
import { globMaxLength, globPattern } from '../glob.js';
import { labelKeyPattern, labelValuePattern } from '../label-selector.js';
import { dnsLabelPattern, dnsSubdomainPattern, branchPattern, folderPattern } from '../formats.js';
import { rule, type Rule } from './rule.js';
import { integer, keyedList, list, map, object, oneOf, optional, set, string, time, withDefault } from './schema.js';

/** Shapes that several kinds share (chapter 10, 0.3 and 0.4). */
export const dnsLabel = (doc: string) => string(doc, { min: 1, max: 63, pattern: dnsLabelPattern });
export const dnsSubdomain = (doc: string) => string(doc, { min: 1, max: 253, pattern: dnsSubdomainPattern });

export const localRef = (doc: string, rules: readonly Rule[] = []) =>
  object(doc, { name: dnsSubdomain('Name of the object; it lives in the namespace of this one.') }, { rules });
/** The cluster-scoped kind is named without a namespace. */
export const clusterRef = (doc: string) => object(doc, { name: dnsSubdomain('Name of the cluster-scoped object.') });
export const grantedRef = (doc: string) =>
  object(doc, {
    name: dnsSubdomain('Name of the object.'),
    namespace: optional(
      dnsLabel('Namespace of the object. Adding or removing it later changes the reference.'),
      "the object's own namespace",
    ),
  });
export const secretRef = (doc: string, rules: readonly Rule[] = []) =>
  object(
    doc,
    { name: dnsSubdomain('Name of the Secret. An empty name is refused: it never means "no Secret".') },
    { rules },
  );
export const trustRef = (doc: string) =>
  object(doc, {
    kind: withDefault(oneOf('What holds the trust material.', ['ConfigMap', 'Secret']), 'ConfigMap'),
    name: dnsSubdomain('Name of the ConfigMap or Secret, in the namespace of this object.'),
  });

/** A Go duration within bounds; the bound keeps out values that overflow a parser. */
export const duration = (
  doc: string,
  id: string,
  bounds: { readonly path: string; readonly least: string; readonly most: string },
) => {
  const { path, least, most } = bounds;
  return string(doc, {
    max: durationMaxLength,
    pattern: durationPattern,
    rules: [
      rule<string>({
        id,
        cel:
          least === '0s'
            ? `duration(self) <= duration('${most}')`
            : `duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`,
        message: `${path} must be between ${least} and ${most}`,
        holds: (self) => isDurationWithin(self, least, most),
      }),
    ],
  });
};

export const folderPath = (doc: string, id: string, path: string) =>
  string(doc, {
    min: 1,
    max: 512,
    pattern: folderPattern,
    rules: [
      rule<string>({
        id,
        cel: String.raw`self == '.' || !self.matches('(^|/)(\\.|\\.\\.|\\.[gG][iI][tT])(/|$)')`,
        message: `${path} must not contain a segment ".", ".." or ".git"; write "." alone for the repository root`,
        holds: (self) => isFolderPath(self),
      }),
    ],
  });

const branchRules = (id: string, path: string): readonly Rule[] => [
  rule<string>({
    id,
    cel: "!self.startsWith('-') && !self.startsWith('/') && !self.startsWith('refs/')",
    message: `${path} is a short branch name: it must not start with "-", "/" or "refs/"`,
    holds: (self) => !/^(-|\/|refs\/)/u.test(self),
  }),
  rule<string>({
    id,
    cel: "!self.endsWith('/') && !self.endsWith('.')",
    message: `${path} must not end with "/" or "."`,
    holds: (self) => !/[/.]$/u.test(self),
  }),
  rule<string>({
    id,
    cel: "!self.contains('..') && !self.contains('//') && !self.contains('@{')",
    message: `${path} must not contain "..", "//" or "@{"`,
    holds: (self) => !/\.\.|\/\/|@\{/u.test(self),
  }),
  rule<string>({
    id,
    cel: "self != '@' && self != 'HEAD'",
    message: `${path} must not be "@" or "HEAD": these are no branch names`,
    holds: (self) => self !== '@' && self !== 'HEAD',
  }),
  rule<string>({
    id,
    cel: String.raw`!self.matches('(^|/)\\.|\\.lock(/|$)')`,
    message: `${path}: no part between slashes may start with "." or end with ".lock"`,
    holds: (self) => isBranchName(self) || !/(^|\/)\.|\.lock(\/|$)/u.test(self),
  }),
];
export const branchName = (doc: string, id: string, path: string) =>
  string(doc, { min: 1, max: 255, pattern: branchPattern, rules: branchRules(id, path) });

export const glob = (doc: string) => string(doc, { min: 1, max: globMaxLength, pattern: globPattern });

const valuesFitOperator = rule<{ readonly operator: string; readonly values?: readonly string[] }>({
  id: 'WR-4',
  cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
  message: 'operators In and NotIn need values; Exists and DoesNotExist take none',
  fieldPath: '.values',
  holds: ({ operator, values = [] }) => ['In', 'NotIn'].includes(operator) === values.length > 0,
});
const labelKeyRule = (id: string) =>
  rule<Readonly<Record<string, string>>>({
    id,
    cel: `self.all(k, k.size() <= 317 && k.matches('${labelKeyPattern.replaceAll('\\', '\\\\')}'))`,
    message: 'every key must be a label key: [prefix/]name, at most 317 characters',
    holds: (self) => Object.keys(self).every((k) => k.length <= 317 && new RegExp(labelKeyPattern, 'u').test(k)),
  });
export const objectSelector = (doc: string) =>
  object(doc, {
    matchLabels: optional(
      map(
        'Labels that must have exactly these values.',
        string('Label value.', { max: 63, pattern: labelValuePattern }),
        {
          max: 64,
          rules: [labelKeyRule('LS-1')],
        },
      ),
    ),
    matchExpressions: optional(
      list(
        'Further requirements; all must hold.',
        object(
          'One requirement.',
          {
            key: string('Label key.', { min: 1, max: 317, pattern: labelKeyPattern }),
            operator: oneOf('How the key is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
            values: optional(
              list('Values for In and NotIn.', string('Label value.', { max: 63, pattern: labelValuePattern }), {
                max: 64,
              }),
            ),
          },
          { rules: [valuesFitOperator] },
        ),
        { max: 32 },
      ),
    ),
  });

export const namespaceMatcher = (doc: string) =>
  object(doc, {
    names: optional(
      set(
        'Exact namespace names. `*` and patterns are refused: no namespace has such a name.',
        dnsLabel('Namespace name.'),
        { max: 128 },
      ),
    ),
    selector: optional(
      objectSelector(
        'Labels of Namespace objects in the control cluster; `{}` admits every namespace. Names or selector suffices.',
      ),
    ),
  });

export const conditions = keyedList(
  'Conditions, the trio Ready, Reconciling, Stalled first.',
  object('One condition.', {
    type: string('Type of the condition.', { min: 1, max: 316, pattern: '^[A-Za-z][A-Za-z0-9]*$' }),
    status: oneOf('Whether it holds.', ['True', 'False', 'Unknown']),
    observedGeneration: optional(integer('Generation that was evaluated.', { min: 0, format: 'int64' })),
    lastTransitionTime: time('When the status last changed.'),
    reason: string('Cause, in PascalCase.', { min: 1, max: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
    message: string('What it is about, what was expected, what was found, what to do next.', { max: 1024 }),
  }),
  'type',
  { max: 32 },
);
/** What every status starts with. */
export const observed = {
  observedGeneration: optional(integer('Generation that was last evaluated.', { min: 0, format: 'int64' })),
  conditions: optional(conditions),
} as const;
export const handled = {
  ...observed,
  lastHandledReconcileAt: optional(
    string('Last value of annotation reconcile.configbutler.ai/requestedAt that was acted on.', { max: 256 }),
  ),
} as const;
export const commitId = (doc: string) => string(doc, { max: 40, pattern: '^([0-9a-f]{40})?$' });

/**
 * A reference that names something else later would abandon what was written under the old name. Compared as a whole:
 * `namespace` is a reserved word of CEL, and the cost of a rule that selects it cannot be estimated.
 */
export const sameGrantedRef = (field: string, id: string, message: string): Rule =>
  rule<Readonly<Record<string, { readonly name: string; readonly namespace?: string }>>>({
    id,
    cel: `self.${field} == oldSelf.${field}`,
    message,
    fieldPath: `.${field}`,
    holds: (self, old) => self[field]?.name === old[field]?.name && self[field]?.namespace === old[field]?.namespace,
  });
