import type { PointName, Points } from './points.js';
import type { Lifecycle } from './plugin.js';
import type { Provided, ScopeName } from './tokens.js';

/** One instance of a plugin in one scope, already started. */
export interface Placed<P extends PointName> {
  readonly plugin: string;
  readonly serves: readonly string[];
  readonly instance: Points[P]['instance'] & Lifecycle;
}

export interface OpenScope {
  readonly name: ScopeName;
  readonly id: string;
  /** Aborted first when the scope closes. */
  readonly signal: AbortSignal;
  /** Instances of one point in effective order; empty when nothing contributes. */
  instances<P extends PointName>(point: P): readonly Placed<P>[];
  /** A named loop the scope waits for when it closes. Its failure is logged with its name, never lost. */
  run(name: string, loop: (signal: AbortSignal) => Promise<void>): void;
  /** Holders first, then own instances in reverse order of birth. Failures come as one AggregateError. Idempotent. */
  close(): Promise<void>;
}

export interface ScopeRequest<S extends Exclude<ScopeName, 'process'>> {
  readonly scope: S;
  /** Shown in logs; unique among the open scopes of its kind. */
  readonly id: string;
  readonly given: readonly Provided<S>[];
  /** Scopes whose values and instances this one uses; they close after it. */
  readonly leases: readonly OpenScope[];
  /** Narrows which contributions are created here: a source by its dialect, an encrypting writer by its provider. */
  readonly serving?: Partial<Readonly<Record<PointName, string>>>;
}

/** Opens the scopes plugins live in. */
export interface Scopes {
  /**
   * @throws ReverserError PluginUnavailable when `serving` names a value no healthy plugin serves; PluginStartFailed,
   * PluginStartTimeout
   */
  open<S extends Exclude<ScopeName, 'process'>>(request: ScopeRequest<S>): Promise<OpenScope>;
}
