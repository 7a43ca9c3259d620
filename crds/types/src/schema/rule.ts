/** The API server drops the message of a `FieldValueDuplicate`, so that reason is not offered. */
export type RuleReason = 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired';

/** One validation rule, said twice: as CEL for the API server and as a predicate for objects that are already stored. */
export interface Rule {
  /** Id of the contract (chapter 10) or of our own table; named by tests and by the reference. */
  readonly id: string;
  readonly cel: string;
  readonly message: string;
  /** Says what was found; falls back to `message` when it cannot be evaluated. */
  readonly messageExpression?: string;
  /** Child that the error points at, relative to where the rule stands; impossible on a scalar. */
  readonly fieldPath?: string;
  readonly reason: RuleReason;
  /** Compares with the stored object: runs on updates only. */
  readonly transition: boolean;
  holds(self: unknown, old: unknown): boolean;
  explain(self: unknown, old: unknown): string;
}

export interface RuleDeclaration<T> {
  readonly id: string;
  readonly cel: string;
  readonly message: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
  readonly reason?: RuleReason;
  readonly holds: (self: T, old: T) => boolean;
  /** The twin of `messageExpression`. */
  readonly explain?: (self: T, old: T) => string;
}

/** Declares a rule; `T` is the shape the schema around it has already guaranteed. */
export function rule<T>(declaration: RuleDeclaration<T>): Rule {
  const { holds, explain, reason = 'FieldValueInvalid', ...rest } = declaration;
  return {
    ...rest,
    reason,
    transition: /\boldSelf\b/.test(declaration.cel),
    holds: (self, old) => holds(self as T, old as T),
    explain: (self, old) => (explain === undefined ? declaration.message : explain(self as T, old as T)),
  };
}

/** The same rule under another id or with more said about it. */
export const asRule = (base: Rule, change: Partial<Rule>): Rule => ({ ...base, ...change });
