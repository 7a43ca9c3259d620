import { ReverserError, type BranchStore, type FolderView, type Retry } from '@gitops-reverser/kernel-api';

export interface FolderFault {
  readonly at: 'opening' | 'listing';
  readonly reason: string;
  readonly retry: Retry;
}

/** A store whose folders cannot be opened, or listed, while they hold a file called CURSED. */
export function cursedStore(store: BranchStore, { at, reason, retry }: FolderFault): BranchStore {
  return {
    observe: (signal) => store.observe(signal),
    commit: (draft) => store.commit(draft),
    publish: (base, head, signal) => store.publish(base, head, signal),
    distrust: () => store.distrust(),
    folder(commit, path): FolderView {
      const folder = store.folder(commit, path);
      if (folder.file('CURSED') === undefined) return folder;
      const fault = (): never => {
        throw new ReverserError({
          reason,
          retry,
          message: `the folder ${path} cannot be read: "CURSED" is refused because of its name; rename or remove this entry`,
          details: { path: 'CURSED' },
        });
      };
      return at === 'opening' ? fault() : { ...folder, files: fault };
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
