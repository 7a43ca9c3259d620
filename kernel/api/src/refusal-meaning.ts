/** What a refusal code says to whoever meets it. */
export interface RefusalMeaning {
  /**
   * What stays unwritten: everything, because of the `folder` or of what the `target` asks for; the write of one `object`; one
   * `document`, which is skipped while the rest goes on; a `candidate` exists in reports only.
   */
  readonly level: 'folder' | 'target' | 'object' | 'document' | 'candidate';
  /** A sentence without its full stop. */
  readonly cause: string;
  /** What to do, as an order without its full stop. */
  readonly remedy: string;
  /** Who can clear it with the present version; absent: nobody, until the object or the program changes. */
  readonly clearedBy?: 'repository-author' | 'platform-operator';
}

/** As one line each: the cause, and the remedy behind a semicolon. */
export function reasonsFrom(meanings: Readonly<Record<string, RefusalMeaning>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(meanings).map(([code, { cause, remedy }]) => [code, `${cause}; ${remedy}`]));
}
