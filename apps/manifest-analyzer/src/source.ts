import type { FileMode } from '@gitops-reverser/kernel-api';

/** One entry of what is scanned; directories are none. */
export interface Entry {
  /** From the top, `/` separated. */
  readonly path: string;
  readonly mode: FileMode;
}

/** Anything that holds files: a commit, an archive, memory. Directories on disk are named by their path instead. */
export interface Source {
  list(): AsyncIterable<Entry>;
  read(path: string): Promise<Uint8Array>;
}

/** Nothing could be judged: the message says what, and what to do. */
export class ScanFailed extends Error {
  constructor(message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.name = 'ScanFailed';
  }
}
