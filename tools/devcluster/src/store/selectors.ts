import { type Json, type JsonObject, type KubeObject, isObject, textOf, valueAt } from '../object.js';
import { refuse } from '../status.js';

export type Predicate = (object: KubeObject) => boolean;

interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | 'absent';
  readonly values: ReadonlySet<string>;
}

const labelKey = /^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;

/** Splits at commas outside parentheses. */
function parts(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const char = text[at];
    if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if ((char === ',' && depth === 0) || at === text.length) {
      found.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return found.filter((part) => part !== '');
}

function parseRequirement(text: string): Requirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(text);
  const equality = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(text);
  const existence = /^(!?)\s*(\S+)$/.exec(text);
  const found: Requirement | undefined = set
    ? {
        key: set[1] as string,
        operator: set[2] as 'in' | 'notin',
        values: new Set((set[3] as string).split(',').map((value) => value.trim())),
      }
    : equality
      ? {
          key: equality[1] as string,
          operator: equality[2] === '!=' ? 'notin' : 'in',
          values: new Set([equality[3] as string]),
        }
      : existence
        ? { key: existence[2] as string, operator: existence[1] === '!' ? 'absent' : 'exists', values: new Set() }
        : undefined;
  if (found === undefined || !labelKey.test(found.key) || ![...found.values].every((value) => labelValue.test(value)))
    throw refuse.badRequest(
      `unable to parse requirement: found '${text}', expected: a label key with '=', '==', '!=', 'in (...)', 'notin (...)', or alone`,
    );
  return found;
}

/** `a=b,c in (d,e),!f`; `undefined` selects everything. */
export function parseLabelSelector(text: string | null): Predicate | undefined {
  if (text === null || text.trim() === '') return undefined;
  const requirements = parts(text).map(parseRequirement);
  return (object) => requirements.every((requirement) => meets(object.metadata.labels, requirement));
}

function meets(labels: Readonly<Record<string, string>> | undefined, { key, operator, values }: Requirement): boolean {
  const value = labels?.[key];
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && values.has(value);
    case 'notin':
      return value === undefined || !values.has(value);
  }
}

/** A `LabelSelector` object as it stands in a spec. */
export function matchesLabelSelector(selector: Json | undefined, labels: Readonly<Record<string, string>>): boolean {
  if (!isObject(selector)) return false;
  const wanted = selector['matchLabels'];
  for (const [key, value] of Object.entries(isObject(wanted) ? wanted : {})) if (labels[key] !== value) return false;
  const expressions = selector['matchExpressions'];
  const operators: Readonly<Record<string, Requirement['operator']>> = {
    In: 'in',
    NotIn: 'notin',
    Exists: 'exists',
    DoesNotExist: 'absent',
  };
  for (const expression of Array.isArray(expressions) ? (expressions as JsonObject[]) : []) {
    const operator = operators[textOf(expression['operator'])];
    const values = Array.isArray(expression['values']) ? (expression['values'] as string[]) : [];
    if (operator === undefined || !meets(labels, { key: textOf(expression['key']), operator, values: new Set(values) }))
      return false;
  }
  return true;
}

/**
 * `metadata.name=a,status.phase!=Running`. Every type knows `metadata.name` and `metadata.namespace`; more only when its
 * `selectable` names them, as on a real server.
 */
export function parseFieldSelector(text: string | null, selectable: ReadonlySet<string>): Predicate | undefined {
  if (text === null || text.trim() === '') return undefined;
  const requirements = parts(text).map((part) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(part);
    if (!match)
      throw refuse.badRequest(
        `invalid field selector "${text}": found '${part}', expected: field=value or field!=value`,
      );
    const field = (match[1] as string).trim();
    if (field !== 'metadata.name' && field !== 'metadata.namespace' && !selectable.has(field))
      throw refuse.badRequest(
        selectable.size === 0
          ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
          : `field label not supported: ${field}`,
      );
    return { path: field.split('.'), isEqual: match[2] !== '!=', value: unescapeValue(match[3] as string) };
  });
  return (object) =>
    requirements.every(({ path, isEqual, value }) => (scalarText(valueAt(object, ...path)) === value) === isEqual);
}

function unescapeValue(text: string): string {
  return text.trim().replace(/\\([\\,=])/g, '$1');
}
function scalarText(value: Json | undefined): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
      ? String(value)
      : '';
}
