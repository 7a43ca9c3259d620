import { stringifyJson } from '../json.js';
import type { JsonObject, MutableJson } from '../object.js';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.js';
import type { Core } from '../objects/core.js';
import { ApiError, refuse, type StatusCause } from '../status.js';
import { decodePageToken, encodePageToken } from '../store/page-token.js';
import type { Entry } from '../store/entry.js';
import { toPartial, toTable } from '../table/table.js';
import type { Form } from './negotiation.js';
import { selectionOf, servedEntry } from './selection.js';

export interface ListSettings {
  readonly takeExpiredPage: () => boolean;
}

const inconsistent =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** @returns a body to send: JSON bytes, or a Table */
export function listObjects(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  query: URLSearchParams,
  form: Form,
  settings: ListSettings,
): object {
  checkOptions(query);
  const { matches, isFiltered } = selectionOf(type, namespace, query);
  const page = readPage(core, type, query, settings);
  const limit = Number(query.get('limit') ?? 0) || 0;

  const items: Entry[] = [];
  let remaining = 0;
  for (const entry of page.entries) {
    if (page.afterKey !== '' && entry.key <= page.afterKey) continue;
    if (!matches(entry)) continue;
    if (limit > 0 && items.length === limit) remaining += 1;
    else items.push(servedEntry(entry, type));
  }
  const meta: MutableJson = { resourceVersion: String(page.version) };
  if (remaining > 0) {
    meta['continue'] = encodePageToken({ version: page.version, afterKey: items.at(-1)?.key ?? '' });
    // With a selector the server cannot know how many are left without reading them.
    if (!isFiltered) meta['remainingItemCount'] = remaining;
  }
  return renderList(core, type, items, meta as JsonObject, form, query);
}

export function renderList(
  core: Core,
  type: ResourceType,
  items: readonly Entry[],
  meta: JsonObject,
  form: Form,
  query: URLSearchParams,
): object {
  switch (form) {
    case 'table':
      return toTable(
        type,
        items.map((entry) => entry.object),
        includeOf(query),
        core.now().getTime(),
        meta,
      );
    case 'partial':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: meta,
        items: items.map((entry) => toPartial(entry.object)),
      };
    case 'json': {
      const head = Buffer.from(
        `{"kind":"${type.kind}List","apiVersion":"${apiVersionOf(type)}","metadata":${stringifyJson(meta)},"items":[`,
      );
      const parts: Buffer[] = [head];
      // Items of built-in lists carry no kind and no apiVersion of their own, those of custom resources do.
      const prefix =
        type.message === undefined
          ? 0
          : Buffer.byteLength(`{"kind":"${type.kind}","apiVersion":"${apiVersionOf(type)}",`);
      for (const [index, entry] of items.entries()) {
        const json = entry.json();
        if (index > 0) parts.push(comma);
        if (prefix === 0) parts.push(json);
        else parts.push(brace, json.subarray(prefix));
      }
      parts.push(tail);
      return Buffer.concat(parts);
    }
  }
}
const comma = Buffer.from(',');
const brace = Buffer.from('{');
const tail = Buffer.from(']}');

export function includeOf(query: URLSearchParams): 'None' | 'Metadata' | 'Object' {
  const found = query.get('includeObject') ?? 'Metadata';
  if (found !== 'None' && found !== 'Metadata' && found !== 'Object')
    throw refuse.badRequest(`includeObject: found ${JSON.stringify(found)}, expected None, Metadata or Object`);
  return found;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly version: number;
  readonly afterKey: string;
}

function readPage(core: Core, type: ResourceType, query: URLSearchParams, settings: ListSettings): Page {
  const collection = core.store.collection(type.storage);
  const token = query.get('continue') ?? '';
  if (token !== '') {
    const { version, afterKey } = decodePageToken(token);
    if (
      query.get('resourceVersion') !== null &&
      query.get('resourceVersion') !== '' &&
      query.get('resourceVersion') !== '0'
    )
      throw refuse.badRequest('specifying resource version is not allowed when using continue');
    const entries =
      version < 0 ? collection.entries() : settings.takeExpiredPage() ? undefined : collection.entriesAt(version);
    if (entries === undefined) throw refuse.expired(inconsistent, encodePageToken({ version: -1, afterKey }));
    return { entries, version: version < 0 ? core.store.version : version, afterKey };
  }
  const wanted = parseVersion(query.get('resourceVersion'), 400);
  if (wanted === undefined || wanted === 0)
    return { entries: collection.entries(), version: core.store.version, afterKey: '' };
  if (wanted > core.store.version) throw versionTooLarge(wanted, core.store.version);
  const isExact =
    query.get('resourceVersionMatch') === 'Exact' ||
    (query.get('resourceVersionMatch') === null && Number(query.get('limit') ?? 0) > 0);
  if (!isExact) return { entries: collection.entries(), version: core.store.version, afterKey: '' };
  const entries = collection.entriesAt(wanted);
  if (entries === undefined) throw refuse.expired('The resourceVersion for the provided list is too old.');
  return { entries, version: wanted, afterKey: '' };
}

/** `undefined` for none. What is no number is refused: by a list with 400, by a watch, as upstream has it, with 500. */
export function parseVersion(text: string | null, code: 400 | 500): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^[0-9]+$/.test(text)) {
    const why = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
    throw code === 400
      ? refuse.badRequest(`invalid resource version: ${why}`)
      : new ApiError({ code, reason: '', message: why });
  }
  return Number(text);
}

export function versionTooLarge(wanted: number, current: number): ApiError {
  return new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
    retryAfterSeconds: 1,
  });
}

function checkOptions(query: URLSearchParams): void {
  const causes: StatusCause[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const forbidden = (field: string, why: string) =>
    causes.push({ reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field });
  if (match !== '') {
    const version = query.get('resourceVersion') ?? '';
    if (version === '')
      forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided');
    if ((query.get('continue') ?? '') !== '')
      forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan')
      causes.push({
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
        field: 'resourceVersionMatch',
      });
    if (match === 'Exact' && version === '0')
      forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (query.get('sendInitialEvents') !== null)
    forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  if (causes.length > 0) throw refuse.invalidOptions(causes);
  const limit = query.get('limit');
  if (limit !== null && limit !== '' && !/^-?[0-9]+$/.test(limit))
    throw refuse.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(limit)}: invalid syntax`);
}
