export type Labels = Readonly<Record<string, string>>;
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const name = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
export const labelKeyPattern = `^(${subdomain}/)?${name}$`;
export const labelValuePattern = `^(${name})?$`;
const key = new RegExp(labelKeyPattern, 'u');
const value = new RegExp(labelValuePattern, 'u');

/** What is wrong with a selector that came from outside, or `undefined`. Quotes keys, never values. */
export function selectorFault(selector: unknown): string | undefined {
  if (typeof selector !== 'object' || selector === null || Array.isArray(selector)) return 'the selector is no object';
  const { matchLabels, matchExpressions, ...rest } = selector as Record<string, unknown>;
  const stranger = Object.keys(rest)[0];
  if (stranger !== undefined) return `${stranger} is no part of a label selector`;
  if (matchLabels !== undefined) {
    if (typeof matchLabels !== 'object' || matchLabels === null || Array.isArray(matchLabels))
      return 'matchLabels is no object';
    for (const [k, v] of Object.entries(matchLabels)) {
      if (!key.test(k)) return `matchLabels: ${JSON.stringify(k)} is no label key`;
      if (typeof v !== 'string' || !value.test(v)) return `matchLabels[${k}]: the value is no label value`;
    }
  }
  if (matchExpressions === undefined) return undefined;
  if (!Array.isArray(matchExpressions)) return 'matchExpressions is no list';
  for (const [index, expression] of matchExpressions.entries()) {
    const fault = expressionFault(expression);
    if (fault !== undefined) return `matchExpressions[${index}]: ${fault}`;
  }
  return undefined;
}

function expressionFault(expression: unknown): string | undefined {
  if (typeof expression !== 'object' || expression === null) return 'no object';
  const { key: k, operator, values } = expression as Record<string, unknown>;
  if (typeof k !== 'string' || !key.test(k)) return `${JSON.stringify(k)} is no label key`;
  if (values !== undefined && !(Array.isArray(values) && values.every((v) => typeof v === 'string' && value.test(v)))) {
    return 'values must be label values';
  }
  const filled = Array.isArray(values) && values.length > 0;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return filled ? undefined : `operator ${operator} needs values`;
    case 'Exists':
    case 'DoesNotExist':
      return filled ? `operator ${operator} takes no values` : undefined;
    default:
      return `operator must be In, NotIn, Exists or DoesNotExist, found ${JSON.stringify(operator)}`;
  }
}

/** Whether labels meet every requirement; an empty selector selects everything. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  for (const [k, v] of Object.entries(selector.matchLabels ?? {})) if (labels[k] !== v) return false;
  for (const { key: k, operator, values = [] } of selector.matchExpressions ?? []) {
    const found = Object.hasOwn(labels, k) ? labels[k] : undefined;
    const holds = {
      In: () => found !== undefined && values.includes(found),
      NotIn: () => found === undefined || !values.includes(found),
      Exists: () => found !== undefined,
      DoesNotExist: () => found === undefined,
    }[operator];
    if (!holds()) return false;
  }
  return true;
}

/** The selector as the API server takes it in `labelSelector=`. */
export function toSelectorText(selector: LabelSelector): string {
  const equal = Object.entries(selector.matchLabels ?? {}).map(([k, v]) => `${k}=${v}`);
  const expressions = (selector.matchExpressions ?? []).map(({ key: k, operator, values = [] }) => {
    switch (operator) {
      case 'In':
        return `${k} in (${values.join(',')})`;
      case 'NotIn':
        return `${k} notin (${values.join(',')})`;
      case 'Exists':
        return k;
      case 'DoesNotExist':
        return `!${k}`;
    }
  });
  return [...equal, ...expressions].join(',');
}
