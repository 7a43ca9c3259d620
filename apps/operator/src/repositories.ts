import type { Clock, Logger, Redactor } from '@gitops-reverser/kernel-api';
import type { Repositories, RepositoryAccess } from '@gitops-reverser/crd-reconcilers';
import { openBranchStore, probeRemote, type RemoteAccess } from '@gitops-reverser/toolkit-git';

export interface RepositoriesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly version: string;
  readonly cacheDir: string;
  readonly allowHttp: boolean;
}

/** The Git toolkit as the reconcilers see it. Every credential that passes is kept out of the log. */
export function createRepositories(options: RepositoriesOptions): Repositories {
  const { clock, logger, version, allowHttp, cacheDir } = options;
  const shared = { clock, logger, version, allowHttp };
  const protectedByUse = new Map<string, { readonly secret: string; readonly held: Disposable }>();

  const guarded = (use: string, access: RepositoryAccess): RepositoryAccess => {
    const secret =
      access.credentials === undefined
        ? ''
        : access.credentials.kind === 'basic'
          ? access.credentials.password
          : access.credentials.token;
    const known = protectedByUse.get(use);
    if (known?.secret !== secret) {
      protectedByUse.set(use, { secret, held: options.redactor.protect(secret) });
      known?.held[Symbol.dispose]();
    }
    return access;
  };
  return {
    async probe(access, signal) {
      const { url, credentials, ca } = guarded(`probe ${access.url}`, access);
      const remote: RemoteAccess = {
        ...shared,
        url,
        ...(credentials === undefined ? {} : { credentials }),
        ...(ca === undefined ? {} : { ca }),
      };
      const { defaultBranch } = await probeRemote(remote, signal);
      return defaultBranch === undefined ? {} : { defaultBranch };
    },
    open({ id, branch, access, parentBranch }) {
      const current = (): RepositoryAccess => guarded(`branch ${id}`, access());
      return openBranchStore({
        ...shared,
        logger: logger.child({ branch: id }),
        url: access().url,
        branch,
        parentBranch,
        credentials: async () => current().credentials,
        ca: () => current().ca,
        cacheDir,
      });
    },
  };
}
