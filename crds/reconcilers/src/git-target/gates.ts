import { summarize, type Refusal, type StreamStatus, type TargetStatus } from '@gitops-reverser/kernel-api';
import type { Gate } from '@gitops-reverser/crd-types';
import type { Readiness } from '../readiness.js';

/** A watch that does not deliver for this long needs a person (chapter 10, 4.6). */
const WATCH_ERROR_PATIENCE_MS = 600_000;

type TargetGate = Gate<'GitTarget'>;

export function branchGate(key: string, readiness: Readiness, isWritable: boolean): TargetGate {
  const type = 'GitBranchReady';
  if (readiness.level === 'ok') return { type, status: 'True', reason: 'Succeeded', message: 'the branch is ready' };
  const message = `GitBranch ${key} is not ready: ${readiness.reason}: ${readiness.message}`;
  if (!isWritable) return { type, status: 'False', reason: 'BranchNotWritable', message, level: readiness.level };
  if (readiness.status === 'Unknown')
    return { type, status: 'Unknown', reason: 'GitBranchNotReady', message, level: readiness.level };
  return { type, status: 'False', reason: 'GitBranchNotReady', message, level: readiness.level };
}

export function providerGate(name: string, readiness: Readiness): TargetGate {
  const type = 'KubeProviderReady';
  if (readiness.level === 'ok')
    return { type, status: 'True', reason: 'Succeeded', message: 'the cluster connection is ready' };
  const message = `KubeProvider ${name} is not ready: ${readiness.reason}: ${readiness.message}`;
  const status = readiness.status === 'Unknown' ? 'Unknown' : 'False';
  return { type, status, reason: 'KubeProviderNotReady', message, level: readiness.level };
}

/** Folder-level refusals by reason, in the order the contract ranks them; everything else is unsupported content. */
export const FOLDER_REASONS = [
  { code: 'ignore-shadows-managed', reason: 'IgnoreShadowsManagedPath' },
  { code: 'multiple-source-namespaces', reason: 'MultipleSourceNamespaces' },
  { code: 'ambiguous-layout', reason: 'AmbiguousLayout' },
  { code: 'unrendered-placement', reason: 'UnrenderedPlacement' },
] as const;

export function folderGates(status: TargetStatus): readonly TargetGate[] {
  const { folder, refused, skipped } = status;
  switch (folder.state) {
    case 'NotScanned': {
      const message = 'the folder has not been looked at so far';
      return [
        { type: 'GitPathAccepted', status: 'Unknown', reason: 'NotScanned', message },
        { type: 'LayoutResolved', status: 'Unknown', reason: 'NotScanned', message },
      ];
    }
    case 'Refused':
      return [pathRefused(folder.refusals, 'UnsupportedContent'), layoutGate(status)];
    case 'Accepted':
      return [
        refused.length > 0
          ? pathRefused(refused, 'WriteBoundaryRefused')
          : {
              type: 'GitPathAccepted',
              status: 'True',
              reason: 'Succeeded',
              message: `the folder can be written${leftAlone(skipped)}`,
            },
        layoutGate(status),
        {
          type: 'RenderMatchesLive',
          status: 'True',
          reason: 'Succeeded',
          message: 'a plain folder renders to what it holds',
        },
      ];
  }
}

/** The first reason of the contract's order that applies; the message begins with what it is about. */
function pathRefused(refusals: readonly Refusal[], others: 'UnsupportedContent' | 'WriteBoundaryRefused'): TargetGate {
  const isOther = ({ code }: Refusal): boolean => !FOLDER_REASONS.some((known) => known.code === code);
  const known = FOLDER_REASONS.find(({ code }) => refusals.some((refusal) => refusal.code === code));
  // Unsupported content comes before every reason of its own, a refused write after them.
  const deciding = others === 'UnsupportedContent' && refusals.some(isOther) ? undefined : known;
  const first = refusals.filter((refusal) =>
    deciding === undefined ? isOther(refusal) : refusal.code === deciding.code,
  );
  return {
    type: 'GitPathAccepted',
    status: 'False',
    reason: deciding?.reason ?? others,
    message: summarize(first, refusals.length - first.length),
  };
}

const leftAlone = (skipped: readonly Refusal[]): string => {
  if (skipped.length === 0) return '';
  const documents = skipped.length === 1 ? 'one document is' : `${skipped.length} documents are`;
  return `; ${documents} left as found: ${summarize(skipped)}`;
};

function layoutGate({ folder, refused }: TargetStatus): TargetGate {
  const type = 'LayoutResolved';
  const ambiguous = [...folder.refusals, ...refused].filter(({ code }) => code === 'ambiguous-layout');
  if (ambiguous.length > 0) return { type, status: 'False', reason: 'Ambiguous', message: summarize(ambiguous) };
  const { resolved } = folder;
  if (resolved === undefined && folder.state === 'Refused')
    return {
      type,
      status: 'Unknown',
      reason: 'NotScanned',
      message: `no layout stands for the folder: ${summarize(folder.refusals)}`,
    };
  const { renderRoot } = resolved?.shape ?? {};
  return renderRoot === undefined
    ? { type, status: 'True', reason: 'None', message: 'a plain folder of manifests' }
    : { type, status: 'True', reason: 'SingleKustomization', message: `Kustomize renders ${renderRoot}` };
}

/** Of a target or of one rule: the same words for the same streams. */
export function streamsGate(streams: readonly StreamStatus[], total: number, now: Date) {
  const type = 'StreamsRunning';
  if (total === 0)
    return { type, status: 'True', reason: 'NoResolvedTypes', message: 'no rule selects anything' } as const;
  const troubled = streams.filter(({ trouble }) => trouble !== undefined);
  const ofReason = (reason: string) => troubled.filter(({ trouble }) => trouble?.reason === reason);
  const denied = ofReason('WatchNotPermitted');
  if (denied.length > 0) return { type, status: 'False', reason: 'WatchNotPermitted', message: told(denied) } as const;
  const failing = ofReason('WatchError');
  if (failing.length > 0) {
    const isLasting = failing.some(
      ({ trouble }) => trouble !== undefined && now.getTime() - trouble.since.getTime() >= WATCH_ERROR_PATIENCE_MS,
    );
    return {
      type,
      status: 'False',
      reason: 'WatchError',
      message: told(failing),
      level: isLasting ? 'stalled' : 'progress',
    } as const;
  }
  const expired = ofReason('ExpiredResourceVersion');
  if (expired.length > 0)
    return { type, status: 'False', reason: 'ExpiredResourceVersion', message: told(expired) } as const;
  const ready = streams.filter(({ state }) => state === 'Streaming').length;
  if (ready < total)
    return {
      type,
      status: 'Unknown',
      reason: 'Replaying',
      message: `${total - ready} of ${total} stream(s) read their first set`,
    } as const;
  return { type, status: 'True', reason: 'AllStreamsReady', message: `${total} stream(s) running` } as const;
}

/** When a watch that does not deliver becomes a matter for a person; undefined when none is on its way there. */
export function streamsPatienceMs(streams: readonly StreamStatus[], now: Date): number | undefined {
  const left = streams
    .filter(({ trouble }) => trouble?.reason === 'WatchError')
    .map(({ trouble }) => (trouble?.since.getTime() ?? 0) + WATCH_ERROR_PATIENCE_MS - now.getTime())
    .filter((ms) => ms > 0);
  return left.length === 0 ? undefined : Math.min(...left);
}

function told(streams: readonly StreamStatus[]): string {
  const messages = streams.map(({ trouble }) => trouble?.message ?? '').sort();
  return messages.length === 1 ? (messages[0] ?? '') : `${messages[0]} and ${messages.length - 1} more`;
}
