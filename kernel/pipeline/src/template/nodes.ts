import type { Value } from './values.js';

export type Term =
  | { readonly kind: 'literal'; readonly value: Exclude<Value, null>; readonly at: number }
  | { readonly kind: 'nil'; readonly at: number }
  | { readonly kind: 'dot'; readonly at: number }
  | { readonly kind: 'field'; readonly path: readonly string[]; readonly at: number }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly string[]; readonly at: number }
  | { readonly kind: 'function'; readonly name: string; readonly at: number }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly at: number }
  | { readonly kind: 'chain'; readonly of: Term; readonly path: readonly string[]; readonly at: number };

export interface Command {
  readonly terms: readonly [Term, ...Term[]];
  readonly at: number;
}
export interface Pipeline {
  readonly declared: readonly string[];
  /** `=` instead of `:=`. */
  readonly isAssignment: boolean;
  readonly commands: readonly Command[];
  readonly at: number;
}
export type Node =
  | { readonly kind: 'text'; readonly text: string; readonly at: number }
  | { readonly kind: 'action'; readonly pipeline: Pipeline; readonly at: number }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipeline: Pipeline;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[] | undefined;
      readonly at: number;
    }
  | { readonly kind: 'break' | 'continue'; readonly at: number };

export interface Template {
  readonly text: string;
  readonly nodes: readonly Node[];
}
