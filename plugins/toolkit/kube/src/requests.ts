import type { JsonObject, JsonValue, KubeObject } from '@gitops-reverser/kernel-api';
import { parseJson, stringifyJson } from '@gitops-reverser/toolkit-yaml';
import { readBody } from './answer-body.js';
import type { KubeAnswer, KubeConnection, KubeRequest } from './connection.js';
import type { OpenedStream } from './http2-streams.js';
import { toUrlPath, type CollectionPath, type ObjectPath, type Query } from './paths.js';
import { toStatusError } from './status-error.js';
import { transportError } from './transport-error.js';
import { WatchStream } from './watch-stream.js';

export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface KubeList {
  /** Each with `apiVersion` and `kind`, which the server leaves out of the items of built-in types. */
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continue: string;
}

export interface WriteOptions {
  readonly fieldManager?: string;
  /** Checks and answers as usual, stores nothing. */
  readonly dryRun?: boolean;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly body: JsonObject }
  | { readonly type: 'json'; readonly body: readonly JsonObject[] }
  /** Server-side apply; `fieldManager` is then required by the server. */
  | { readonly type: 'apply'; readonly body: JsonObject; readonly force?: boolean };

export interface WatchOptions extends Selection {
  /** Exclusive start. Absent or `0`: the server sends the whole set first. */
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  /** WatchList: the whole set, its end mark, then live events. Sends the one form a server accepts (30, 2.4 step 2). */
  readonly sendInitialEvents?: boolean;
  /** How long the server keeps the stream open, seconds. */
  readonly timeoutSeconds: number;
  /** Default `timeoutSeconds` + 30 s (30, SC-16). */
  readonly silenceMs?: number;
  /** Default 64 MiB. */
  readonly maxLineBytes?: number;
}

const PATCH_TYPE = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  // JSON is YAML: the server takes it under this name.
  apply: 'application/apply-patch+yaml',
} as const satisfies Record<Patch['type'], string>;

const MAX_LINE = 64 * 1024 * 1024;
// 1 MiB: far above any Status, and a proxy's error page is of no interest beyond that.
const MAX_ERROR_BODY = 1024 * 1024;
const SILENCE_MARGIN_MS = 30_000;

/**
 * Raw requests on group, version and resource. Objects come back as the server sent them: no field dropped, no number rounded,
 * no time rewritten. Every refusal is a `KubeError`; an abort throws the signal's reason.
 */
export class KubeClient {
  readonly connection: KubeConnection;

  constructor(connection: KubeConnection) {
    this.connection = connection;
  }

  async get(path: ObjectPath, signal: AbortSignal): Promise<KubeObject> {
    return toObject(await this.json({ method: 'GET', path: toUrlPath(path) }, signal));
  }

  /** One page, or everything when `limit` is absent. */
  async list(path: CollectionPath, options: ListOptions, signal: AbortSignal): Promise<KubeList> {
    const query: Query = { ...options };
    const asked = toUrlPath(path);
    const body = await this.json({ method: 'GET', path: asked, query, headers: { 'accept-encoding': 'gzip' } }, signal);
    return toList(body, `GET ${asked} on ${this.connection.server}`);
  }

  async create(
    path: CollectionPath,
    object: JsonObject,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    return toObject(await this.#write('POST', toUrlPath(path), object, 'application/json', options, signal));
  }

  /** A PUT; with `metadata.resourceVersion` in the object it is refused when the object changed meanwhile. */
  async replace(path: ObjectPath, object: JsonObject, options: WriteOptions, signal: AbortSignal): Promise<KubeObject> {
    return toObject(await this.#write('PUT', toUrlPath(path), object, 'application/json', options, signal));
  }

  async patch(path: ObjectPath, patch: Patch, options: WriteOptions, signal: AbortSignal): Promise<KubeObject> {
    const force = patch.type === 'apply' && patch.force !== undefined ? { force: patch.force } : {};
    return toObject(
      await this.#write(
        'PATCH',
        toUrlPath(path),
        patch.body as JsonValue,
        PATCH_TYPE[patch.type],
        options,
        signal,
        force,
      ),
    );
  }

  /** @returns the object when it stays for its finalizers, else the Status */
  async delete(path: ObjectPath, options: DeleteOptions, signal: AbortSignal): Promise<JsonObject> {
    const body: JsonObject = { apiVersion: 'v1', kind: 'DeleteOptions', ...(options as JsonObject) };
    return await this.#write('DELETE', toUrlPath(path), body, 'application/json', {}, signal);
  }

  /** @throws KubeError when the server does not answer 200; later trouble comes as frames */
  async watch(path: CollectionPath, options: WatchOptions, signal: AbortSignal): Promise<WatchStream> {
    const url = toUrlPath(path);
    const asked = `watch ${url} on ${this.connection.server}`;
    const stream = await this.connection.openStream(
      { path: url, query: watchQuery(options), headers: { 'accept-encoding': 'identity' } },
      signal,
    );
    if (stream.status !== 200) throw await this.#refusal(stream, asked, signal);
    const silenceMs = options.silenceMs ?? options.timeoutSeconds * 1000 + SILENCE_MARGIN_MS;
    return new WatchStream(
      stream,
      { asked, clock: this.connection.clock, silenceMs, maxLineBytes: options.maxLineBytes ?? MAX_LINE },
      signal,
    );
  }

  /** Any request that answers a JSON object: discovery, reviews, custom subresources. */
  async json(request: KubeRequest, signal: AbortSignal): Promise<JsonObject> {
    const asked = `${request.method} ${request.path} on ${this.connection.server}`;
    const answer = await this.connection.request(request, signal);
    if (answer.status < 200 || answer.status > 299) throw this.#statusError(asked, answer);
    const body = parsed(answer.body);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw transportError(asked, 'MalformedResponse', {
        found: `status ${answer.status} and ${answer.body.length} bytes that are no JSON object`,
      });
    }
    return body as JsonObject;
  }

  async #write(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: JsonValue,
    contentType: string,
    options: WriteOptions,
    signal: AbortSignal,
    more: Query = {},
  ): Promise<JsonObject> {
    const { fieldManager, dryRun, fieldValidation } = options;
    const query: Query = { fieldManager, fieldValidation, ...(dryRun === true ? { dryRun: 'All' } : {}), ...more };
    return await this.json(
      { method, path, query, headers: { 'content-type': contentType }, body: stringifyJson(body) },
      signal,
    );
  }

  async #refusal(stream: OpenedStream, asked: string, signal: AbortSignal): Promise<unknown> {
    try {
      const body = await readBody(stream.body, stream.headers['content-encoding'], MAX_ERROR_BODY, asked);
      return this.#statusError(asked, { status: stream.status, headers: stream.headers, body });
    } catch {
      // The status alone still says what happened.
      return signal.aborted
        ? signal.reason
        : this.#statusError(asked, { status: stream.status, headers: stream.headers, body: Buffer.alloc(0) });
    } finally {
      stream.close();
    }
  }

  #statusError(asked: string, answer: KubeAnswer): unknown {
    const facts = {
      code: answer.status,
      asked,
      retryAfter: answer.headers['retry-after'],
      now: this.connection.clock.now(),
    };
    return toStatusError(facts, parsed(answer.body));
  }
}

function watchQuery(options: WatchOptions): Query {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options;
  const replay = options.sendInitialEvents === true;
  return {
    watch: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
    // Without bookmarks the end mark of a WatchList never comes, without the match it is refused (30, 2.4.1).
    ...(replay ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
    ...(replay || options.allowWatchBookmarks !== false ? { allowWatchBookmarks: true } : {}),
  };
}

function parsed(body: Buffer): JsonValue | undefined {
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

const toObject = (body: JsonObject): KubeObject => body as KubeObject;

function toList(body: JsonObject, asked: string): KubeList {
  const { apiVersion, kind, items, metadata } = body;
  const meta =
    typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? (metadata as JsonObject) : {};
  // A nil slice of Go.
  const found = items === null ? [] : items;
  if (typeof kind !== 'string' || !Array.isArray(found)) {
    throw transportError(asked, 'MalformedResponse', { found: 'an answer that is no list of objects' });
  }
  const types = { apiVersion: apiVersion as string, kind: kind.replace(/List$/, '') };
  return {
    items: found.map(
      (item: JsonObject) =>
        (typeof item['kind'] === 'string' && typeof item['apiVersion'] === 'string'
          ? item
          : { ...types, ...item }) as KubeObject,
    ),
    resourceVersion: typeof meta['resourceVersion'] === 'string' ? meta['resourceVersion'] : '',
    continue: typeof meta['continue'] === 'string' ? meta['continue'] : '',
  };
}
