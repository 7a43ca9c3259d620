import type { RequestInfo } from './http/request-info.js';
import type { WatchSession } from './http/watch-session.js';
import type { User } from './auth/users.js';
import { ApiError } from './status.js';

/** Which requests a fault is about; every part that is given must match. */
export interface RequestMatch {
  readonly verb?: string | readonly string[];
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
  /** The user is in this group. */
  readonly userGroup?: string;
  readonly path?: RegExp;
}

export type Fault =
  /** An HTTP answer instead of the real one. */
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** HTTP 200 and one ERROR event, then the end; for watches. */
  | {
      readonly kind: 'error-event';
      readonly code: number;
      readonly reason: string;
      readonly message: string;
      readonly retryAfterSeconds?: number;
    }
  /** The real answer, later. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** The request is read and never answered. */
  | { readonly kind: 'hang' }
  /** The connection is reset. */
  | { readonly kind: 'reset' };

interface Rule {
  readonly match: RequestMatch;
  readonly fault: Fault;
  left: number;
}

/** `configmaps` of any namespace, or every watch. */
export interface WatchMatch {
  readonly group?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly user?: string;
}

export interface FaultHooks {
  readonly sessions: () => Iterable<WatchSession>;
  readonly refuseConnections: () => Promise<void>;
  readonly acceptConnections: () => Promise<void>;
}

/** Bad days on demand. Everything stays until it is undone: by the returned function, or by `clear`. */
export class Faults {
  readonly #hooks: FaultHooks;
  #rules: Rule[] = [];
  #brokenGroups = new Set<string>();
  /** Discovery answers 406 to the aggregated form, as kcp does. */
  aggregatedDiscovery = true;
  /** No watch ever gets the bookmark that ends the initial events. */
  endBookmarks = true;
  /** How a server without WatchList answers `sendInitialEvents`; `undefined` serves it. */
  sendInitialEventsRefusal: 400 | 422 | 'error-event' | undefined;
  /** No bookmark at all, not even the periodic ones. */
  bookmarks = true;

  constructor(hooks: FaultHooks) {
    this.#hooks = hooks;
  }

  /** @param times how often; for ever when absent */
  inject(match: RequestMatch, fault: Fault, times = Number.POSITIVE_INFINITY): () => void {
    const rule: Rule = { match, fault, left: times };
    this.#rules.push(rule);
    return () => {
      this.#rules = this.#rules.filter((one) => one !== rule);
    };
  }

  /** 401 or 403 in the words of the API server. */
  deny(match: RequestMatch, code: 401 | 403 = 403): () => void {
    return this.inject(match, { kind: 'status', code });
  }

  /** The next watches (or lists) are told that their version is too old. Watches get the event, unless `as` says otherwise. */
  expireNext(
    match: WatchMatch & { readonly verb?: 'watch' | 'list' } = {},
    as: 'event' | 'http' = match.verb === 'list' ? 'http' : 'event',
    times = 1,
  ): () => void {
    const message = 'too old resource version: 1 (2)';
    return this.inject(
      { verb: 'watch', ...match },
      as === 'http'
        ? { kind: 'status', code: 410, reason: 'Expired', message }
        : { kind: 'error-event', code: 410, reason: 'Expired', message },
      times,
    );
  }

  /** The next `times` page requests with a continue token are answered 410. */
  #expiredPages = 0;
  expirePages(times = 1): void {
    this.#expiredPages += times;
  }
  takeExpiredPage(): boolean {
    if (this.#expiredPages === 0) return false;
    this.#expiredPages -= 1;
    return true;
  }

  /** @param how `reset` cuts the connection, `end` closes the stream as a time-out does */
  dropWatches(match: WatchMatch = {}, how: 'reset' | 'end' = 'reset'): number {
    const found = [...this.#hooks.sessions()].filter((session) => matchesWatch(session, match));
    for (const session of found) session.close(how);
    return found.length;
  }

  /** Open watches fall silent without a FIN: nothing more is sent, the connection stays. */
  stallWatches(match: WatchMatch = {}): number {
    const found = [...this.#hooks.sessions()].filter((session) => matchesWatch(session, match));
    for (const session of found) session.stall();
    return found.length;
  }

  /** An ERROR event on open watches, then their end. */
  failWatches(
    match: WatchMatch,
    fault: { readonly code: number; readonly reason: string; readonly message: string },
  ): number {
    const found = [...this.#hooks.sessions()].filter((session) => matchesWatch(session, match));
    for (const session of found) session.fail(new ApiError(fault));
    return found.length;
  }

  /** The discovery of a group answers 503 (classic) or is stale and empty (aggregated). */
  breakGroup(group: string): () => void {
    this.#brokenGroups.add(group);
    return () => this.#brokenGroups.delete(group);
  }
  isGroupBroken(group: string): boolean {
    return this.#brokenGroups.has(group);
  }

  /** New connections are refused and open ones cut, until `acceptConnections`. The port stays ours. */
  refuseConnections(): Promise<void> {
    return this.#hooks.refuseConnections();
  }
  acceptConnections(): Promise<void> {
    return this.#hooks.acceptConnections();
  }

  clear(): void {
    this.#rules = [];
    this.#brokenGroups.clear();
    this.#expiredPages = 0;
    this.aggregatedDiscovery = true;
    this.endBookmarks = true;
    this.bookmarks = true;
    this.sendInitialEventsRefusal = undefined;
  }

  /** The fault for a request, if any; uses it up. */
  take(info: RequestInfo, path: string, user: User | undefined): Fault | undefined {
    const rule = this.#rules.find((one) => one.left > 0 && matchesRequest(info, path, user, one.match));
    if (rule === undefined) return undefined;
    rule.left -= 1;
    return rule.fault;
  }

  /** Whether a request would be refused with 401 or 403; nothing is used up. */
  wouldDeny(info: RequestInfo, user: User): boolean {
    return this.#rules.some(
      (rule) =>
        rule.left > 0 &&
        rule.fault.kind === 'status' &&
        (rule.fault.code === 403 || rule.fault.code === 401) &&
        matchesRequest(info, '', user, rule.match),
    );
  }
}

function matchesRequest(info: RequestInfo, path: string, user: User | undefined, match: RequestMatch): boolean {
  if (match.path !== undefined && !match.path.test(path)) return false;
  if (match.verb !== undefined && !(typeof match.verb === 'string' ? [match.verb] : match.verb).includes(info.verb))
    return false;
  if (match.user !== undefined && match.user !== user?.name) return false;
  if (match.userGroup !== undefined && user?.groups.includes(match.userGroup) !== true) return false;
  const { group, resource, subresource, namespace, name } = match;
  if (info.kind === 'path') return [group, resource, subresource, namespace, name].every((part) => part === undefined);
  return (
    (group === undefined || group === info.group) &&
    (resource === undefined || resource === info.resource) &&
    (subresource === undefined || subresource === info.subresource) &&
    (namespace === undefined || namespace === info.namespace) &&
    (name === undefined || name === info.name)
  );
}

function matchesWatch(session: WatchSession, match: WatchMatch): boolean {
  return (
    (match.group === undefined || match.group === session.type.group) &&
    (match.resource === undefined || match.resource === session.type.plural) &&
    (match.namespace === undefined || match.namespace === session.namespace) &&
    (match.user === undefined || match.user === session.user)
  );
}
