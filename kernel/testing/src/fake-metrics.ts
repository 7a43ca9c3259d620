import type { Labels, MetricSpec, Metrics } from '@gitops-reverser/kernel-api';

export interface MetricSample {
  readonly labels: Labels;
  readonly value: number;
}

export interface FakeMetrics extends Metrics {
  /** Series of one metric as a scrape would see them now; for a histogram the number of observations. */
  samples(name: string): readonly MetricSample[];
  /** The one series with exactly these labels; 0 when it was never touched. */
  value(name: string, labels?: Labels): number;
  /** What a histogram was given, in order. */
  observations(name: string, labels?: Labels): readonly number[];
  /** Names declared so far. */
  names(): readonly string[];
}

type Kind = 'counter' | 'histogram' | 'gauge';
interface Family {
  readonly kind: Kind;
  readonly spec: MetricSpec;
  readonly series: Map<string, { readonly labels: Labels; readonly values: number[] }>;
  readonly collectors: Set<() => Iterable<MetricSample>>;
}

/** Metrics that remember, and refuse what a real registry refuses: undeclared labels, one name declared in two ways. */
export function fakeMetrics(): FakeMetrics {
  const familyByName = new Map<string, Family>();

  const declare = (kind: Kind, spec: MetricSpec): Family => {
    if (!/^[a-z][a-z0-9_]*$/.test(spec.name))
      throw new TypeError(`metric ${spec.name}: expected lower-case words joined by _`);
    if (spec.name.startsWith('gitopsreverser_'))
      throw new TypeError(`metric ${spec.name}: the prefix is added by the registry`);
    const known = familyByName.get(spec.name);
    if (known !== undefined) {
      const same = known.kind === kind && known.spec.labels.join() === spec.labels.join();
      if (!same)
        throw new TypeError(
          `metric ${spec.name} is declared twice: ${known.kind} with labels ${known.spec.labels.join()}, and ${kind} with labels ${spec.labels.join()}`,
        );
      return known;
    }
    const family: Family = { kind, spec, series: new Map(), collectors: new Set() };
    familyByName.set(spec.name, family);
    return family;
  };
  const record = (family: Family, labels: Labels, value: number): void => {
    checkLabels(family.spec, labels);
    const key = keyOf(labels);
    const series = family.series.get(key) ?? { labels: { ...labels }, values: [] };
    series.values.push(value);
    family.series.set(key, series);
  };
  const samples = (name: string): readonly MetricSample[] => {
    const family = familyByName.get(name);
    if (family === undefined) return [];
    const stored = [...family.series.values()].map(({ labels, values }) => ({
      labels,
      value: family.kind === 'histogram' ? values.length : values.reduce((sum, value) => sum + value, 0),
    }));
    const collected = [...family.collectors].flatMap((collect) => [...collect()]);
    for (const sample of collected) checkLabels(family.spec, sample.labels);
    return [...stored, ...collected];
  };

  return {
    counter(spec) {
      const family = declare('counter', spec);
      return {
        add(labels, amount = 1) {
          if (!(amount >= 0)) throw new RangeError(`metric ${spec.name}: a counter only rises, found ${amount}`);
          record(family, labels, amount);
        },
      };
    },
    histogram(spec) {
      const family = declare('histogram', spec);
      return { observe: (labels, value) => record(family, labels, value) };
    },
    gauge(spec, collect) {
      const family = declare('gauge', spec);
      family.collectors.add(collect);
      return { [Symbol.dispose]: () => void family.collectors.delete(collect) };
    },
    forget(labels) {
      for (const family of familyByName.values()) {
        for (const [key, series] of family.series) if (contains(series.labels, labels)) family.series.delete(key);
      }
    },
    samples,
    value: (name, labels = {}) => samples(name).find((sample) => keyOf(sample.labels) === keyOf(labels))?.value ?? 0,
    observations: (name, labels = {}) => familyByName.get(name)?.series.get(keyOf(labels))?.values ?? [],
    names: () => [...familyByName.keys()],
  };
}

function checkLabels(spec: MetricSpec, labels: Labels): void {
  const [found, expected] = [Object.keys(labels).sort().join(), [...spec.labels].sort().join()];
  if (found !== expected)
    throw new TypeError(`metric ${spec.name}: expected labels ${expected || 'none'}, found ${found || 'none'}`);
}

const contains = (labels: Labels, part: Labels): boolean =>
  Object.entries(part).every(([name, value]) => labels[name] === value);
const keyOf = (labels: Labels): string => JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
