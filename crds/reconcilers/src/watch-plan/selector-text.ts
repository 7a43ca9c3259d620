import type { LabelSelector } from '@gitops-reverser/crd-types';

/** The canonical spelling of a selector, as the API server takes it in a query; undefined selects everything. */
export function selectorText(selector: LabelSelector | undefined): string | undefined {
  const requirements = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const sorted = [...new Set(values)].sort();
    if (operator === 'Exists') requirements.push(key);
    else if (operator === 'DoesNotExist') requirements.push(`!${key}`);
    else if (operator === 'In' && sorted.length === 1) requirements.push(`${key}=${sorted[0]}`);
    else if (operator === 'NotIn' && sorted.length === 1) requirements.push(`${key}!=${sorted[0]}`);
    else requirements.push(`${key} ${operator === 'In' ? 'in' : 'notin'} (${sorted.join(',')})`);
  }
  return requirements.length === 0 ? undefined : [...new Set(requirements)].sort().join(',');
}
