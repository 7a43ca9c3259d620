import { summarize, type PlaintextFinding, type TargetSettings } from '@gitops-reverser/kernel-api';
import type { Gate, GitBranchLender, GitTargetBorrower } from '@gitops-reverser/crd-types';
import { keyFor, type Declared } from '../objects.js';

/** What a target borrows. */
export interface TargetRefs {
  readonly branch: string;
  readonly provider: string;
}

export const refsOf = ({ spec, metadata }: Declared<'GitTarget'>): TargetRefs => ({
  branch: keyFor(spec.gitBranchRef.namespace ?? metadata.namespace ?? '', spec.gitBranchRef.name),
  provider: spec.kubeProviderRef?.name ?? 'default',
});

export const refused = (
  reason: 'GitBranchNotFound' | 'KubeProviderNotFound' | 'TargetConflict' | 'PluginUnavailable',
  message: string,
): Gate<'GitTarget'> => ({ type: 'Validated', status: 'False', reason, message });

export function missing(refs: TargetRefs, branch: unknown, provider: unknown): Gate<'GitTarget'> | undefined {
  if (branch === undefined)
    return refused(
      'GitBranchNotFound',
      `spec.gitBranchRef: GitBranch ${refs.branch} does not exist; create it or name another`,
    );
  if (provider === undefined)
    return refused(
      'KubeProviderNotFound',
      `spec.kubeProviderRef: KubeProvider ${refs.provider} does not exist; create it or name another`,
    );
  return undefined;
}

export function branchQuestion(
  target: Declared<'GitTarget'>,
  branch: Declared<'GitBranch'>,
): { readonly lender: GitBranchLender; readonly borrower: GitTargetBorrower } {
  const { allowedGitTargets } = branch.spec;
  return {
    lender: {
      kind: 'GitBranch',
      namespace: branch.metadata.namespace ?? '',
      name: branch.metadata.name,
      ...(allowedGitTargets === undefined ? {} : { allowedGitTargets }),
    },
    borrower: { kind: 'GitTarget', namespace: target.metadata.namespace ?? '', path: target.spec.path },
  };
}

/**
 * @param uncovered plural names of what the rules select and nobody may write without encryption
 * @param plaintext what of it stands in Git in clear; it blocks nothing
 */
export function encryptionGate(
  { encryption }: TargetSettings,
  uncovered: readonly string[],
  plaintext: readonly PlaintextFinding[],
): Gate<'GitTarget'> {
  const type = 'EncryptionConfigured';
  const standing = plaintext.filter(({ isReplaced }) => !isReplaced);
  const tail = standing.length === 0 ? '' : `; ${summarize(standing)}`;
  if (encryption !== undefined)
    return { type, status: 'True', reason: 'Succeeded', message: `writer ${encryption.provider} encrypts${tail}` };
  const left = uncovered.length === 0 ? 'sensitive objects are refused' : `${uncovered.join(', ')} are not mirrored`;
  return { type, status: 'True', reason: 'NotRequired', message: `no encryption is declared: ${left}${tail}` };
}
