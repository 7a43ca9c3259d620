import { type Json, isObject } from '../object.js';

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: readonly string[]; readonly value: string };

/**
 * The JSONPath of printer columns: `.a.b`, `['a.b']`, `[0]`, `[*]`, `[?(@.type=="Ready")]`. Anything else yields nothing, as
 * in a table cell.
 */
export function parseJsonPath(text: string): readonly Step[] {
  const steps: Step[] = [];
  const token =
    /\.?([A-Za-z_][\w-]*(?:\\\.[\w-]+)*)|\[(\d+)\]|\[\*\]|\.\*|\['([^']*)'\]|\["([^"]*)"\]|\[\?\(@((?:\.[\w-]+)+)\s*==\s*(?:"([^"]*)"|'([^']*)')\)\]/gy;
  const source = text.replace(/^\{|\}$/g, '').replace(/^\$/, '');
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const match = token.exec(source);
    if (!match) return [];
    if (match[1] !== undefined) steps.push({ kind: 'field', name: match[1].replaceAll('\\.', '.') });
    else if (match[2] !== undefined) steps.push({ kind: 'index', index: Number(match[2]) });
    else if (match[3] !== undefined || match[4] !== undefined)
      steps.push({ kind: 'field', name: (match[3] ?? match[4]) as string });
    else if (match[5] !== undefined)
      steps.push({ kind: 'filter', path: match[5].split('.').slice(1), value: (match[6] ?? match[7]) as string });
    else steps.push({ kind: 'all' });
  }
  return steps;
}

export function readJsonPath(value: Json | undefined, steps: readonly Step[]): readonly Json[] {
  let found: Json[] = value === undefined ? [] : [value];
  for (const step of steps) {
    found = found.flatMap((one): Json[] => {
      switch (step.kind) {
        case 'field': {
          const child = isObject(one) ? one[step.name] : undefined;
          return child === undefined ? [] : [child];
        }
        case 'index': {
          const child = Array.isArray(one) ? (one as readonly Json[])[step.index] : undefined;
          return child === undefined ? [] : [child];
        }
        case 'all':
          return Array.isArray(one)
            ? [...(one as readonly Json[])]
            : isObject(one)
              ? (Object.values(one) as Json[])
              : [];
        case 'filter':
          return (Array.isArray(one) ? (one as readonly Json[]) : []).filter(
            (item) =>
              String(step.path.reduce<Json | undefined>((at, name) => (isObject(at) ? at[name] : undefined), item)) ===
              step.value,
          );
      }
    });
  }
  return found;
}
