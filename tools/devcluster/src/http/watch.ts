import { stringifyJson } from '../json.js';
import type { JsonObject } from '../object.js';
import type { Core } from '../objects/core.js';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.js';
import { ApiError, refuse, type StatusCause } from '../status.js';
import type { ChangeType, Entry } from '../store/entry.js';
import { toPartial, toTable } from '../table/table.js';
import { includeOf, parseVersion, versionTooLarge } from './list.js';
import type { Form } from './negotiation.js';
import type { Reply } from './reply.js';
import { selectionOf, servedEntry } from './selection.js';
import { WatchSession, type WatchPlan } from './watch-session.js';

export interface WatchSettings {
  readonly sessions: Set<WatchSession>;
  readonly bookmarkIntervalMs: number;
  /** How long the server waits for a version of the future before it says so. */
  readonly tooLargeDelayMs: number;
  readonly bookmarks: () => boolean;
  readonly endBookmarks: () => boolean;
  readonly sendInitialEventsRefusal: () => 400 | 422 | 'error-event' | undefined;
}

// 1_800 s: the API server's --min-request-timeout; a watch without timeoutSeconds lasts between one and two of them.
const minTimeoutMs = 1_800_000;

export function openWatch(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  query: URLSearchParams,
  form: Form,
  user: string,
  reply: Reply,
  settings: WatchSettings,
): void {
  const initial = readSendInitialEvents(query);
  checkOptions(query, initial);
  const refusal = initial === undefined ? undefined : settings.sendInitialEventsRefusal();
  if (refusal === 400) throw refuse.badRequest('unknown query parameter: sendInitialEvents');
  if (refusal === 422)
    throw refuse.invalidOptions([
      {
        reason: 'FieldValueForbidden',
        message: 'Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
        field: 'sendInitialEvents',
      },
    ]);
  const wanted = parseVersion(query.get('resourceVersion'), 500);
  const allowsBookmarks = /^(true|1)$/.test(query.get('allowWatchBookmarks') ?? '');
  const plan = planOf(core, type, namespace, name, query, form, user);
  const timeoutSeconds = Number(query.get('timeoutSeconds') ?? 0);
  const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : minTimeoutMs * (1 + Math.random());

  const response = reply.stream('application/json');
  const session = new WatchSession(plan, response, (closed) => settings.sessions.delete(closed));
  settings.sessions.add(session);
  session.after(timeoutMs, () => session.close('end'));
  if (refusal === 'error-event') {
    session.fail(
      new ApiError({
        code: 500,
        reason: 'InternalError',
        message: 'Internal error occurred: etcd does not support the progress notify that sendInitialEvents needs',
      }),
    );
    return;
  }
  const isReplay = initial === true || (initial === undefined && (wanted === undefined || wanted === 0));
  if (isReplay && wanted !== undefined && wanted > core.store.version) {
    session.after(settings.tooLargeDelayMs, () => session.fail(versionTooLarge(wanted, core.store.version)));
    return;
  }
  if (isReplay) {
    session.sendInitial();
    // The end of the initial events can only be told to a watcher that takes bookmarks.
    if (allowsBookmarks && settings.endBookmarks()) session.sendBookmark(core.store.version, true);
    session.follow([], core.store.version);
  } else {
    const from = wanted ?? core.store.version;
    const changes = plan.collection.changesSince(from);
    if (changes === undefined) {
      session.fail(refuse.expired(`too old resource version: ${from} (${plan.collection.oldestVersion})`));
      return;
    }
    session.follow(changes, from);
  }
  if (!allowsBookmarks) return;
  const bookmark = () => {
    // Up to a version of the future nothing is said, not even a bookmark.
    if (settings.bookmarks() && core.store.version >= (wanted ?? 0)) session.sendBookmark(core.store.version);
  };
  session.every(settings.bookmarkIntervalMs, bookmark);
  if (timeoutMs > 4000) session.after(timeoutMs - 2000, bookmark);
}

function planOf(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  query: URLSearchParams,
  form: Form,
  user: string,
): WatchPlan {
  const { matches } = selectionOf(type, namespace, query, name);
  const include = includeOf(query);
  let columnsSent = false;
  const event = (kind: ChangeType | 'BOOKMARK', object: JsonObject) =>
    Buffer.from(`${stringifyJson({ type: kind, object })}\n`);
  const table = (entry: Entry) => {
    const done = toTable(
      type,
      [entry.object],
      include,
      core.now().getTime(),
      { resourceVersion: String(entry.version) },
      !columnsSent,
    );
    columnsSent = true;
    return done;
  };
  return {
    type,
    namespace,
    user,
    collection: core.store.collection(type.storage),
    matches,
    line: (kind, entry) => {
      const served = servedEntry(entry, type);
      return form === 'json'
        ? served.line(kind)
        : event(kind, form === 'table' ? table(served) : toPartial(served.object));
    },
    bookmarkLine: (version, isEnd) => {
      const metadata = {
        resourceVersion: String(version),
        ...(isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
      };
      const object = { kind: type.kind, apiVersion: apiVersionOf(type), metadata };
      if (form === 'json') return event('BOOKMARK', object);
      if (form === 'partial')
        return event('BOOKMARK', { ...object, kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
      return event('BOOKMARK', {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: String(version) },
        columnDefinitions: null,
        rows: [
          {
            cells: type.columns.map(() => ''),
            object: { ...object, kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' },
          },
        ],
      });
    },
  };
}

function readSendInitialEvents(query: URLSearchParams): boolean | undefined {
  const text = query.get('sendInitialEvents');
  if (text === null || text === '') return undefined;
  // As upstream converts flags: whatever is not plainly false is true.
  return text !== 'false' && text !== '0';
}

function checkOptions(query: URLSearchParams, initial: boolean | undefined): void {
  const causes: StatusCause[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const forbidden = (why: string) =>
    causes.push({ reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field: 'resourceVersionMatch' });
  if (initial !== undefined && match !== 'NotOlderThan')
    forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (match !== '') {
    if (initial === undefined)
      forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    if (match !== 'NotOlderThan')
      causes.push({
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`,
        field: 'resourceVersionMatch',
      });
    if ((query.get('continue') ?? '') !== '') forbidden('resourceVersionMatch is forbidden when continue is provided');
  }
  if (causes.length > 0) throw refuse.invalidOptions(causes);
}
