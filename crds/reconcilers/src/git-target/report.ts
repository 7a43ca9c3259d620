import type { BranchHandle, Refusal, StreamStatus, TargetSettings, TargetStatus } from '@gitops-reverser/kernel-api';
import type { StatusOf } from '@gitops-reverser/crd-types';
import { remoteOf, seconds } from '../git-branch/reconciler.js';
import type { Declared } from '../objects.js';

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

/** The whole status but conditions, as far as it is known. */
export function report(
  object: Declared<'GitTarget'>,
  { retention, refused, plaintext, folder }: TargetStatus,
  branch: BranchHandle | undefined,
  settings: TargetSettings,
  streams: ReturnType<typeof streamsStatus>,
) {
  const seen = branch?.status().remote;
  const { parent: _, ...remote } = seen === undefined ? { parent: undefined } : remoteOf(seen, object.status?.remote);
  return {
    streams,
    ...placementStatus(folder),
    ...(retention === undefined || settings.suspend
      ? {}
      : {
          retention: {
            mode: retention.mode,
            retainedDocuments: retention.retainedDocuments,
            observedAt: seconds(retention.observedAt),
          },
        }),
    ...('commit' in remote ? { remote } : {}),
    ...refusalsStatus([...refused, ...plaintext.filter(({ isReplaced }) => !isReplaced)]),
  };
}

type PlacementStatus = NonNullable<StatusOf<'GitTarget'>['placement']>;
const MODES = ['Plain', 'KustomizeRoot', 'KustomizeOverlay'] as const satisfies readonly PlacementStatus['mode'][];
/** 16: limit of the declaration. */
const BASES = 16;

/** The block `status.placement`: as resolved, whether the folder is accepted or not; absent while no layout knows it. */
function placementStatus({ resolved }: TargetStatus['folder']): { readonly placement?: PlacementStatus } {
  if (resolved === undefined) return {};
  const { shape, commit, at } = resolved;
  const mode = MODES.find((known) => known === shape.mode);
  return {
    placement: {
      ...(mode === undefined ? {} : { mode }),
      ...(shape.renderRoot === undefined ? {} : { renderRoot: shape.renderRoot }),
      ...(shape.readOnlyBases === undefined ? {} : { readOnlyBases: shape.readOnlyBases.slice(0, BASES) }),
      ...(commit === undefined ? {} : { resolvedAtCommit: commit }),
      resolvedAt: seconds(at),
    },
  };
}

/** `write-escapes-scope` becomes `WriteEscapesScope`. */
const pascal = (code: string): string =>
  code.replace(/(^|[-_])([a-z])/g, (_, __, letter: string) => letter.toUpperCase());

/** The block `status.refusals`; absent when there is none. */
function refusalsStatus(refused: readonly Refusal[]) {
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
