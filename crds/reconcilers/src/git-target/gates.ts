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
const FOLDER_REASONS = [
  { code: 'ignore-shadows-managed', reason: 'IgnoreShadowsManagedPath' },
  { code: 'multiple-source-namespaces', reason: 'MultipleSourceNamespaces' },
  { code: 'ambiguous-layout', reason: 'AmbiguousLayout' },
  { code: 'unrendered-placement', reason: 'UnrenderedPlacement' },
] as const;

export function folderGates({ folder, refused }: TargetStatus): readonly TargetGate[] {
  switch (folder.state) {
    case 'NotScanned':
      return [
        {
          type: 'GitPathAccepted',
          status: 'Unknown',
          reason: 'NotScanned',
          message: 'the folder has not been looked at so far',
        },
        {
          type: 'LayoutResolved',
          status: 'Unknown',
          reason: 'NotScanned',
          message: 'the folder has not been looked at so far',
        },
      ];
    case 'Refused':
      return [
        {
          type: 'GitPathAccepted',
          status: 'False',
          reason: folderReason(folder.refusals),
          message: summarize(folder.refusals),
        },
        { type: 'LayoutResolved', status: 'Unknown', reason: 'NotScanned', message: 'the folder is refused' },
      ];
    case 'Accepted': {
      const layout: TargetGate = {
        type: 'LayoutResolved',
        status: 'True',
        reason: 'None',
        message: 'a plain folder of manifests',
      };
      if (refused.length === 0)
        return [
          { type: 'GitPathAccepted', status: 'True', reason: 'Succeeded', message: 'the folder can be written' },
          layout,
        ];
      return [
        { type: 'GitPathAccepted', status: 'False', reason: 'WriteBoundaryRefused', message: summarize(refused) },
        layout,
      ];
    }
  }
}

function folderReason(refusals: readonly Refusal[]) {
  const unsupported = refusals.some(({ code }) => !FOLDER_REASONS.some((known) => known.code === code));
  if (unsupported) return 'UnsupportedContent' as const;
  return (
    FOLDER_REASONS.find(({ code }) => refusals.some((refusal) => refusal.code === code))?.reason ??
    ('UnsupportedContent' as const)
  );
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

const SAMPLE = 5;

/** The block `status.streams`. */
export function streamsStatus(streams: readonly StreamStatus[], total: number) {
  const count = (state: StreamStatus['state']): number => streams.filter((stream) => stream.state === state).length;
  const ready = count('Streaming');
  const pending = streams
    .filter(({ state }) => state !== 'Streaming')
    .map(
      ({ collection: { type, namespace } }) =>
        `${type.resource}${type.group === '' ? '' : `.${type.group}`}${namespace === undefined ? '' : `/${namespace}`}`,
    );
  return {
    summary: `${ready}/${total}`,
    total,
    ready,
    replaying: total - ready - count('Blocked'),
    blocked: count('Blocked'),
    ...(pending.length === 0 ? {} : { pendingSample: pending.sort().slice(0, SAMPLE) }),
  };
}

/** `write-escapes-scope` becomes `WriteEscapesScope`. */
const pascal = (code: string): string => code.replace(/(^|-)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());

/** The block `status.refusals`; absent when there is none. */
export function refusalsStatus(refused: readonly Refusal[]) {
  if (refused.length === 0) return {};
  const sample = [...refused]
    .sort((a, b) => (a.message < b.message ? -1 : 1))
    .slice(0, SAMPLE)
    .map(({ code, ref }) => ({
      group: ref?.group ?? '',
      resource: ref?.resource ?? '',
      namespace: ref?.namespace ?? '',
      name: ref?.name ?? '',
      reason: pascal(code),
    }));
  return { refusals: { count: refused.length, sample } };
}
