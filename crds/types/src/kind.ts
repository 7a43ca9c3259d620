import type { ConditionRow, ReasonRow } from './conditions-table.js';
import type { Schema } from './schema/schema.js';

export const group = 'configbutler.ai';
export const version = 'v1alpha3';
export const apiVersion = `${group}/${version}` as const;
export const category = 'gitops-reverser';

export interface Column {
  readonly name: string;
  readonly path: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly doc: string;
  /** Shown with `-o wide` only. */
  readonly wide: boolean;
}
export interface KindDeclaration<
  K extends string = string,
  Spec extends Schema = Schema,
  St extends Schema = Schema,
  C extends readonly ConditionRow[] = readonly ConditionRow[],
  R extends readonly ReasonRow[] = readonly ReasonRow[],
  Scope extends 'Namespaced' | 'Cluster' = 'Namespaced' | 'Cluster',
> {
  readonly kind: K;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly scope: Scope;
  /** One to three sentences for `kubectl explain`. */
  readonly doc: string;
  readonly spec: Spec;
  readonly status: St;
  /** In gate order; without the trio. */
  readonly conditions: C;
  /** Reasons that only the trio itself carries. */
  readonly ready: R;
  readonly columns: readonly Column[];
}

export const defineKind = <
  const K extends string,
  Spec extends Schema,
  St extends Schema,
  const C extends readonly ConditionRow[],
  const R extends readonly ReasonRow[],
  const Scope extends 'Namespaced' | 'Cluster',
>(
  declaration: Omit<KindDeclaration<K, Spec, St, C, R, Scope>, 'singular'>,
): KindDeclaration<K, Spec, St, C, R, Scope> => ({ singular: declaration.kind.toLowerCase(), ...declaration });

const conditionPath = (type: string, part: string): string => `.status.conditions[?(@.type=="${type}")].${part}`;
const column = (name: string, path: string, doc: string, wide: boolean, type: Column['type'] = 'string'): Column => ({
  name,
  path,
  type,
  doc,
  wide,
});
export const fact = (name: string, path: string, doc: string, type: Column['type'] = 'string'): Column =>
  column(name, path, doc, false, type);
export const detail = (name: string, path: string, doc: string, type: Column['type'] = 'string'): Column =>
  column(name, path, doc, true, type);
/** Header is the condition type, or the type without a leading qualifier. */
export const showing = (type: string, header: string = type): Column =>
  fact(header, conditionPath(type, 'status'), `Status of condition ${type}.`);
export const wideShowing = (type: string, header: string = type): Column =>
  detail(header, conditionPath(type, 'status'), `Status of condition ${type}.`);
export const readyColumn = showing('Ready');
export const reasonColumn = fact('Reason', conditionPath('Ready', 'reason'), 'Reason of condition Ready.');
export const messageColumn = detail('Message', conditionPath('Ready', 'message'), 'Message of condition Ready.');
export const ageColumn = fact('Age', '.metadata.creationTimestamp', 'Time since the object was created.', 'date');
