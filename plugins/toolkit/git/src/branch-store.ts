import type { BranchStore } from '@gitops-reverser/kernel-api';
import { RemoteRepository } from './protocol/remote-repository.js';
import { DiskCache } from './store/disk-cache.js';
import { GitBranchStore } from './store/git-branch-store.js';
import { ObjectKeeper } from './store/object-keeper.js';
import {
  agentOf,
  checkBranchName,
  DEFAULT_MAX_PACK_BYTES,
  DEFAULT_OBJECT_CACHE_BYTES,
  openTransport,
  type BranchStoreOptions,
} from './store/options.js';

/**
 * The one owner of one branch of one remote repository. Opens no connection and touches no disk before it is first used.
 *
 * @throws ReverserError InvalidSpec, UserInfoInURL, InsecureTransport, PluginUnavailable (an SSH address without a transport)
 */
export function openBranchStore(options: BranchStoreOptions): BranchStore {
  const { branch, parentBranch, cacheDir, logger } = options;
  checkBranchName(branch);
  if (typeof parentBranch === 'string') checkBranchName(parentBranch);
  const transport = openTransport(options);
  const remote = new RemoteRepository({
    transport,
    agent: agentOf(options.version),
    maxPackBytes: options.maxPackBytes ?? DEFAULT_MAX_PACK_BYTES,
  });
  return new GitBranchStore({
    transport,
    remote,
    branch,
    parentBranch: () => (typeof parentBranch === 'function' ? parentBranch() : parentBranch),
    clock: options.clock,
    openKeeper: async () => {
      const disk =
        cacheDir === undefined ? undefined : DiskCache.open(DiskCache.folderOf(cacheDir, options.url, branch), logger);
      const keeper = new ObjectKeeper({
        disk,
        branch,
        logger,
        cacheBytes: options.objectCacheBytes ?? DEFAULT_OBJECT_CACHE_BYTES,
      });
      await keeper.load();
      return keeper;
    },
  });
}
