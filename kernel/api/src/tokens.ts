import type { Clock, Logger, Metrics } from './ports.js';
import type { TargetSettings } from './runtime.js';
import type { StripRules } from './strip-rules.js';

export type ScopeName = 'process' | 'cluster' | 'branch' | 'target';

/** What each scope can see: itself, the process, and for a target the cluster and branch it leases. */
export interface Sees {
  process: 'process';
  cluster: 'process' | 'cluster';
  branch: 'process' | 'branch';
  target: ScopeName;
}
export const SEES = {
  process: ['process'],
  cluster: ['process', 'cluster'],
  branch: ['process', 'branch'],
  target: ['process', 'cluster', 'branch', 'target'],
} as const satisfies { readonly [S in ScopeName]: readonly Sees[S][] };

/** Names a value of one scope. Two tokens of equal name and scope are the same token, whichever copy of a package made them. */
export interface Token<T, S extends ScopeName> {
  readonly name: string;
  readonly scope: S;
  /** Phantom: carries the type only. */
  readonly type?: T;
}

export const token = <T, const S extends ScopeName>(name: string, scope: S): Token<T, S> => ({ name, scope });

export type Needs<S extends ScopeName> = Readonly<Record<string, Token<unknown, Sees[S]>>>;
export type Given<N> = { readonly [K in keyof N]: N[K] extends Token<infer T, ScopeName> ? T : never };

/** A value for a token, as the owner of a scope hands it in. */
export interface Provided<S extends ScopeName = ScopeName> {
  readonly token: Token<unknown, S>;
  readonly value: unknown;
}
export const provide = <T, S extends ScopeName>(key: Token<T, S>, value: T): Provided<S> => ({ token: key, value });

export const clock = token<Clock, 'process'>('clock', 'process');
export const logger = token<Logger, 'process'>('logger', 'process');
export const metrics = token<Metrics, 'process'>('metrics', 'process');
/** Provided by the kernel itself, once every plugin is loaded. */
export const stripRules = token<StripRules, 'process'>('strip-rules', 'process');
export const targetSettings = token<TargetSettings, 'target'>('target-settings', 'target');
