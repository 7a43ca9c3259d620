import { RemoteRepository } from './protocol/remote-repository.js';
import { agentOf, DEFAULT_MAX_PACK_BYTES, openTransport, type RemoteAccess } from './store/options.js';

export interface ProbedRemote {
  /** Whether there is no ref at all; an empty repository is reachable. */
  readonly isEmpty: boolean;
  /** What HEAD names, without `refs/heads/`; absent when it is detached or the remote does not say. */
  readonly defaultBranch?: string;
  /** Whether that branch has a commit. */
  readonly hasDefaultBranch: boolean;
}

/**
 * Looks at a remote once: one list of HEAD, and one of all refs when HEAD leads nowhere. Reading only: it says nothing of writing.
 *
 * @throws ReverserError RemoteUnavailable, AuthenticationFailed, AccessDenied, RepositoryNotFound, HostKeyUntrusted,
 * TLSVerificationFailed, UnsupportedObjectFormat, InvalidSpec, UserInfoInURL, InsecureTransport, PluginUnavailable
 */
export async function probeRemote(access: RemoteAccess, signal: AbortSignal): Promise<ProbedRemote> {
  const transport = openTransport(access);
  try {
    const remote = new RemoteRepository({
      transport,
      agent: agentOf(access.version),
      maxPackBytes: DEFAULT_MAX_PACK_BYTES,
    });
    await transport.begin(signal);
    const refs = await remote.readRefs({ refs: [] }, signal);
    const isEmpty = refs.isEmpty ?? (await remote.readRefs({ refs: [], isWhole: true }, signal)).isEmpty ?? false;
    const { head } = refs;
    const named = head.kind === 'branch' || head.kind === 'unborn' ? head.ref : undefined;
    return {
      isEmpty,
      hasDefaultBranch: head.kind === 'branch',
      ...(named?.startsWith('refs/heads/') === true ? { defaultBranch: named.slice('refs/heads/'.length) } : {}),
    };
  } finally {
    await transport[Symbol.asyncDispose]();
  }
}
