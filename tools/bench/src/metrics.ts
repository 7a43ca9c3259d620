export interface HistogramTotals {
  readonly sum: number;
  readonly count: number;
}

/** Sum and count of a histogram, over all its labels; zeros when it is not there. */
export function histogramTotals(exposition: string, name: string): HistogramTotals {
  const totals = { sum: 0, count: 0 };
  const lines = exposition.matchAll(new RegExp(`^gitopsreverser_${name}_(sum|count)(?:\\{.*\\})? (\\S+)$`, 'gm'));
  for (const [, part, value] of lines) totals[part as keyof HistogramTotals] += Number(value);
  return totals;
}
