/** Time. `setTimeout` and `Date.now` appear only behind it. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms`, or at once and quietly when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** The message is a constant; what varies goes in fields. Object bodies, secrets and URL credentials never. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}

export type Labels = Readonly<Record<string, string>>;
export interface MetricSpec {
  /** Without the `gitopsreverser_` prefix. */
  readonly name: string;
  readonly help: string;
  /** Label names; values come from closed sets, never names of mirrored objects, paths or users. */
  readonly labels: readonly string[];
}
export interface Counter {
  add(labels: Labels, amount?: number): void;
}
export interface Histogram {
  observe(labels: Labels, value: number): void;
}

export interface Metrics {
  counter(spec: MetricSpec): Counter;
  histogram(spec: MetricSpec & { readonly buckets: readonly number[] }): Histogram;
  /** Computed at scrape time, so that a dead loop cannot freeze it. Disposing it removes its series. */
  gauge(spec: MetricSpec, collect: () => Iterable<{ readonly labels: Labels; readonly value: number }>): Disposable;
  /** Drops every series whose labels contain these: a deleted configuration object takes its series with it. */
  forget(labels: Labels): void;
}
