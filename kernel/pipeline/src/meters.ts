import type { Counter, Histogram, Labels, Metrics, ResourceType, TargetSpec } from '@gitops-reverser/kernel-api';

const GT = ['gittarget_namespace', 'gittarget_name'] as const;
const GVR = ['group', 'version', 'resource'] as const;
const PB = ['provider_namespace', 'provider_name', 'branch'] as const;
const SC = ['source_cluster'] as const;

/** Every instrument of the river (chapter 30, 7.2). */
export interface Meters {
  readonly watchEvents: Counter;
  readonly watchHandling: Histogram;
  readonly watchSessionsEnded: Counter;
  readonly watchReplay: Histogram;
  readonly watchRecovery: Counter;
  readonly objectsFiltered: Counter;
  readonly planPasses: Counter;
  readonly planPassDuration: Histogram;
  readonly documents: Counter;
  readonly commits: Counter;
  readonly pushes: Counter;
  readonly pushRetries: Counter;
  readonly pushDuration: Histogram;
  readonly fetches: Counter;
  readonly queueDrops: Counter;
  readonly commitFailures: Counter;
  readonly resyncFailures: Counter;
  readonly writeRefusals: Counter;
  readonly documentsSkipped: Counter;
  readonly placements: Counter;
  readonly placementRefusals: Counter;
  readonly storeBuild: Histogram;
  readonly windowsClosed: Counter;
  readonly foreignCommits: Counter;
  readonly foreignRewrites: Counter;
  readonly eventToRemote: Histogram;
  readonly registry: Metrics;
}

export function declareMeters(registry: Metrics): Meters {
  const counter = (name: string, labels: readonly string[], help: string): Counter =>
    registry.counter({ name, labels, help });
  const seconds = (name: string, labels: readonly string[], buckets: readonly number[], help: string): Histogram =>
    registry.histogram({ name, labels, buckets, help });
  return {
    watchEvents: counter('watch_events_total', [...GT, ...GVR, 'outcome'], 'Events received from source clusters.'),
    watchHandling: seconds(
      'watch_event_handling_seconds',
      GVR,
      [0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 3, 10, 30],
      'Receipt of a live event to its acceptance, the wait for its author included.',
    ),
    watchSessionsEnded: counter('watch_sessions_ended_total', [...GVR, 'reason'], 'Stream sessions that ended.'),
    watchReplay: seconds(
      'watch_replay_duration_seconds',
      GVR,
      [0.05, 0.1, 0.5, 1, 5, 15, 30, 60, 300],
      'Duration of complete replays.',
    ),
    watchRecovery: counter('watch_recovery_total', [...GT, 'group', 'resource', 'mode'], 'How stream sessions began.'),
    objectsFiltered: counter(
      'objects_filtered_total',
      [...GT, ...GVR, 'reason'],
      'Objects that are not mirrored, by filter.',
    ),
    planPasses: counter(
      'watch_plan_passes_total',
      [...GT, 'outcome'],
      'Passes that brought the streams of a target to its plan.',
    ),
    planPassDuration: seconds(
      'watch_plan_pass_duration_seconds',
      [],
      [0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 30],
      'Duration of such a pass.',
    ),
    documents: counter(
      'git_documents_total',
      [...GT, ...GVR, 'outcome'],
      'Documents written, removed, kept or refused.',
    ),
    commits: counter('git_commits_total', [...PB, 'author_kind', 'message_source'], 'Commits that reached the remote.'),
    pushes: counter('git_pushes_total', [...PB, 'outcome'], 'Publication cycles.'),
    pushRetries: counter('git_push_retries_total', [...PB, 'reason'], 'Pushes that lost a race and were tried again.'),
    pushDuration: seconds(
      'git_push_duration_seconds',
      PB,
      [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      'Duration of publication cycles.',
    ),
    fetches: counter('git_fetches_total', [...PB, 'reason'], 'Fetches of a new tip.'),
    queueDrops: counter('git_queue_drops_total', [...PB, 'kind'], 'Work refused at the queue of a branch.'),
    commitFailures: counter('git_commit_failures_total', [...PB, 'kind', 'reason'], 'Closes that gave no commit.'),
    resyncFailures: counter('git_resync_failures_total', GT, 'Snapshots that were not written.'),
    writeRefusals: counter('write_refusals_total', [...GT, ...GVR, 'kind'], 'Objects that were refused.'),
    documentsSkipped: counter(
      'documents_skipped_total',
      [...GT, ...GVR, 'reason'],
      'Writes that left a document as it is because no edit may touch it.',
    ),
    placements: counter(
      'placements_total',
      [...GT, ...GVR, 'source', 'disposition'],
      'New documents that reached the remote, by how their place was found.',
    ),
    placementRefusals: counter(
      'placement_refusals_total',
      [...GT, ...GVR, 'reason'],
      'New documents without a place: each is an object that the mirror lacks.',
    ),
    storeBuild: seconds(
      'store_build_duration_seconds',
      GT,
      [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
      'Duration of reading and judging a folder.',
    ),
    windowsClosed: counter('git_windows_closed_total', [...PB, 'reason'], 'Commit windows closed.'),
    foreignCommits: counter('git_foreign_commits_total', PB, 'Tips that somebody else pushed.'),
    foreignRewrites: counter('git_foreign_rewrites_total', PB, 'Tips that took our commits back.'),
    eventToRemote: seconds(
      'git_event_to_remote_seconds',
      PB,
      [0.25, 0.5, 1, 2, 5, 10, 30, 60, 300],
      'Acceptance of a change to its confirmation by the remote.',
    ),
    registry,
  };
}

export const gtLabels = ({ namespace, name }: Pick<TargetSpec, 'namespace' | 'name'>): Labels => ({
  gittarget_namespace: namespace,
  gittarget_name: name,
});
export const gvrLabels = ({
  group,
  version,
  resource,
}: Pick<ResourceType, 'group' | 'version' | 'resource'>): Labels => ({ group, version, resource });

/** The branch's own share, its labels bound. */
export interface BranchMeters {
  readonly labels: Labels;
  push(outcome: 'pushed' | 'failed', durationMs: number): void;
  pushRetry(what: 'branch' | 'parent' | 'deleted'): void;
  fetched(reason: string): void;
  foreign(isRewrite: boolean): void;
}

const RETRY_REASON = { branch: 'remote_moved', parent: 'parent_moved', deleted: 'branch_deleted' } as const;

export function branchMeters(meters: Meters, labels: Labels): BranchMeters {
  return {
    labels,
    push(outcome, durationMs) {
      meters.pushes.add({ ...labels, outcome });
      meters.pushDuration.observe(labels, durationMs / 1_000);
    },
    pushRetry: (what) => meters.pushRetries.add({ ...labels, reason: RETRY_REASON[what] }),
    fetched: (reason) => meters.fetches.add({ ...labels, reason }),
    foreign(isRewrite) {
      meters.foreignCommits.add(labels);
      if (isRewrite) meters.foreignRewrites.add(labels);
    },
  };
}

/** State at scrape time. Collectors come and go with what they describe. */
export interface Gauges {
  readonly queueDepth: GaugeRoom;
  readonly retainedBytes: GaugeRoom;
  readonly branchTargets: GaugeRoom;
  readonly watchTypes: GaugeRoom;
  readonly streamsOpen: GaugeRoom;
  /** Each contributor says since when (seconds of the epoch) it is dirty, or nothing. */
  readonly dirtySince: GaugeRoom;
}
export type Sample = { readonly labels: Labels; readonly value: number };
interface GaugeRoom {
  add(collect: () => Iterable<Sample>): Disposable;
}

export function declareGauges(registry: Metrics): Gauges {
  const room = (): GaugeRoom & { readonly all: () => Iterable<Sample> } => {
    const collectors = new Set<() => Iterable<Sample>>();
    return {
      add(collect) {
        collectors.add(collect);
        return { [Symbol.dispose]: () => void collectors.delete(collect) };
      },
      *all() {
        for (const collect of collectors) yield* collect();
      },
    };
  };
  const declared = (name: string, labels: readonly string[], help: string): GaugeRoom => {
    const made = room();
    registry.gauge({ name, labels, help }, made.all);
    return made;
  };
  const dirty = room();
  registry.gauge(
    { name: 'watch_plan_dirty_targets', labels: [], help: 'Targets whose streams do not match their plan yet.' },
    () => [{ labels: {}, value: [...dirty.all()].length }],
  );
  registry.gauge(
    {
      name: 'watch_plan_oldest_dirty_since_timestamp_seconds',
      labels: [],
      help: 'Since when the oldest of them waits; absent when there is none.',
    },
    () => {
      const since = [...dirty.all()].map(({ value }) => value);
      return since.length === 0 ? [] : [{ labels: {}, value: Math.min(...since) }];
    },
  );
  return {
    queueDepth: declared('git_queue_depth', PB, 'Changes waiting for a branch.'),
    retainedBytes: declared('git_retained_bytes', PB, 'Estimated bytes of windows and retained writes.'),
    branchTargets: declared('git_branch_targets', [...PB, ...GT, ...SC], 'Joins series of targets and branches.'),
    watchTypes: declared(
      'watch_types',
      [...SC, ...GT, 'state'],
      'Types followed, by the worst state of their streams.',
    ),
    streamsOpen: declared('watch_streams_open', [...SC, ...GT], 'Streams running.'),
    dirtySince: dirty,
  };
}
