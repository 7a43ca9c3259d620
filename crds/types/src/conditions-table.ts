/** How conditions are declared: one table per kind, read by the roll-up, the reference and the tests. */
export type Status = 'True' | 'False' | 'Unknown';
/** `stalled`: a person must act. `progress`: converging. `none`: does not move the trio. `ok`: good. */
export type Level = 'ok' | 'none' | 'progress' | 'stalled';

/** Reasons that share a status and a level. More than one level: whoever contributes says which applies. */
export interface ReasonRow<S extends Status = Status, R extends string = string> {
  readonly status: S;
  readonly reasons: readonly R[];
  readonly levels: readonly Level[];
}
export interface ConditionRow<T extends string = string, R extends ReasonRow = ReasonRow> {
  readonly type: T;
  readonly doc: string;
  /** A condition that is no gate never moves the trio (ST-7). */
  readonly gate: boolean;
  /** Absent while its feature is off; a gate that is not optional and not contributed reads `Unknown`. */
  readonly optional: boolean;
  /** Any reason of another object may show here. */
  readonly mirrors: boolean;
  readonly rows: readonly R[];
}

const row =
  <S extends Status>(status: S, level: Level | readonly Level[]) =>
  <const R extends readonly string[]>(...reasons: R): ReasonRow<S, R[number]> => ({
    status,
    reasons,
    levels: typeof level === 'string' ? [level] : level,
  });
export const good = row('True', 'ok');
export const stalls = row('False', 'stalled');
export const progresses = row('False', 'progress');
export const waits = row('Unknown', 'progress');
/** False or Unknown without moving the trio. */
export const shows = row('False', 'none');
export const unsure = row('Unknown', 'none');
export const falseOr = <const R extends readonly string[]>(
  levels: readonly Level[],
  ...reasons: R
): ReasonRow<'False', R[number]> => row('False', levels)(...reasons);
export const unknownOr = <const R extends readonly string[]>(
  levels: readonly Level[],
  ...reasons: R
): ReasonRow<'Unknown', R[number]> => row('Unknown', levels)(...reasons);

const condition =
  (facts: Pick<ConditionRow, 'gate' | 'optional' | 'mirrors'>) =>
  <const T extends string, const R extends readonly ReasonRow[]>(
    type: T,
    doc: string,
    ...rows: R
  ): ConditionRow<T, R[number]> => ({
    type,
    doc,
    ...facts,
    rows,
  });
export const gate = condition({ gate: true, optional: false, mirrors: false });
export const optionalGate = condition({ gate: true, optional: true, mirrors: false });
export const mirrorGate = condition({ gate: true, optional: false, mirrors: true });
/** Not a gate: its description must say so. */
export const notice = condition({ gate: false, optional: true, mirrors: false });

/** Section 1.2: the rows of every grant gate. */
export const grantRows = [
  good('Granted'),
  stalls('NotAllowed'),
  unknownOr(['progress', 'none'], 'GrantUnreadable'),
] as const;
/** Reasons that any gate may use beside those of its own table. */
export const sharedRows = [good('Succeeded'), waits('Progressing')] as const;
