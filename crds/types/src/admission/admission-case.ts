import type { KindName, ObjectOf } from '../kinds/kinds.js';

/** One object, and what the API server and `validateStored` must both say to it. */
export interface AdmissionCase {
  /** A sentence: what is tried, and why it is accepted or refused. */
  readonly name: string;
  /** Rule of the contract, or the field that is probed. */
  readonly id: string;
  readonly object: ObjectOf<KindName>;
  /** What is stored already: then the case is an update. */
  readonly stored?: ObjectOf<KindName>;
  /** Part of the message; absent: it is accepted. */
  readonly refused?: string;
  /** Where the check of a stored object knows more to say than the API server can. */
  readonly refusedWhenStored?: string;
}
