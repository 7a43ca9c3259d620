import type { Labels, Logger, Metrics, MetricSpec } from '@gitops-reverser/kernel-api';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const PREFIX = 'gitopsreverser_';
/** MT-5: series per instrument; above it samples go to one series labelled `overflow="true"`. */
const MAX_SERIES = 15_000;

export interface MetricsRegistry extends Metrics {
  readonly contentType: string;
  /** The exposition text of everything. */
  scrape(): Promise<string>;
}

export interface MetricsOptions {
  readonly logger: Logger;
  /** For tests; default 15000. */
  readonly maxSeries?: number;
}

export function createMetrics(options: MetricsOptions): MetricsRegistry {
  const registry = new Registry();
  const maxSeries = options.maxSeries ?? MAX_SERIES;
  const instruments = new Map<
    string,
    { readonly spec: MetricSpec; readonly series: SeriesLimit; readonly raw: Counter | Histogram | Gauge }
  >();

  const collectorsByName = new Map<string, Set<() => Iterable<{ readonly labels: Labels; readonly value: number }>>>();

  const known = <T extends Counter | Histogram | Gauge>(
    spec: MetricSpec,
    make: (config: { name: string; help: string; labelNames: string[]; registers: Registry[] }) => T,
  ) => {
    const found = instruments.get(spec.name);
    // One name always stands for one type of instrument: the caller that made it is the only one that asks for it.
    if (found !== undefined) return found as unknown as { series: SeriesLimit; raw: T };
    const raw = make({
      name: PREFIX + spec.name,
      help: spec.help,
      labelNames: [...spec.labels, 'overflow'],
      registers: [registry],
    });
    const entry = { spec, raw, series: new SeriesLimit(spec, maxSeries, options.logger) };
    instruments.set(spec.name, entry);
    return entry;
  };

  return {
    contentType: registry.contentType,
    scrape: () => registry.metrics(),
    counter(spec) {
      const { raw, series } = known(spec, (config) => new Counter(config));
      return { add: (labels, amount = 1) => raw.inc(series.admit(labels), amount) };
    },
    histogram(spec) {
      const { raw, series } = known(spec, (config) => new Histogram({ ...config, buckets: [...spec.buckets] }));
      return { observe: (labels, value) => raw.observe(series.admit(labels), value) };
    },
    gauge(spec, collect) {
      const collectors = collectorsByName.get(spec.name) ?? new Set();
      collectorsByName.set(spec.name, collectors);
      collectors.add(collect);
      const { series } = known(spec, (config) => {
        const gauge: Gauge = new Gauge({
          ...config,
          collect: () => {
            gauge.reset();
            for (const source of collectors)
              for (const { labels, value } of source()) gauge.set(series.admit(labels), value);
          },
        });
        return gauge;
      });
      return { [Symbol.dispose]: () => void collectors.delete(collect) };
    },
    forget(labels) {
      for (const { raw, series } of instruments.values()) for (const gone of series.forget(labels)) raw.remove(gone);
    },
  };
}

/** Counts the series of one instrument and bounds them. */
class SeriesLimit {
  readonly #spec: MetricSpec;
  readonly #max: number;
  readonly #logger: Logger;
  readonly #seen = new Map<string, Labels>();
  #overflowed = false;

  constructor(spec: MetricSpec, max: number, logger: Logger) {
    this.#spec = spec;
    this.#max = max;
    this.#logger = logger;
  }

  admit(labels: Labels): Labels {
    const key = this.#spec.labels.map((name) => labels[name] ?? '').join('\u0000');
    if (this.#seen.has(key)) return labels;
    if (this.#seen.size >= this.#max) {
      if (!this.#overflowed)
        this.#logger.warn({ metric: this.#spec.name, limit: this.#max }, 'metric reached its series limit');
      this.#overflowed = true;
      return { overflow: 'true' };
    }
    this.#seen.set(key, labels);
    return labels;
  }

  /** Series whose labels contain all of `part`, no longer counted. */
  forget(part: Labels): readonly Labels[] {
    const gone: Labels[] = [];
    for (const [key, labels] of this.#seen) {
      if (!Object.entries(part).every(([name, value]) => labels[name] === value)) continue;
      this.#seen.delete(key);
      gone.push(labels);
    }
    return gone;
  }
}
