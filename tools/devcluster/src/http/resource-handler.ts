import { randomBytes } from 'node:crypto';
import type { User, Users } from '../auth/users.js';
import type { Faults } from '../faults.js';
import { type Json, type JsonObject, type KubeObject, isObject, valueAt } from '../object.js';
import type { Core, WriteOptions, Written } from '../objects/core.js';
import { createObject } from '../objects/create.js';
import { type PatchOptions, patchKindByMediaType, patchObject, patchedJson } from '../objects/patch.js';
import { deleteObject, parseDeleteOptions } from '../objects/remove.js';
import { storeScale, toScale } from '../objects/scale.js';
import { currentObject, storeNext, updateObject } from '../objects/update.js';
import { metadataShape } from '../schema/builtin.js';
import type { ResourceType } from '../resources/resource-type.js';
import { refuse } from '../status.js';
import type { Entry } from '../store/entry.js';
import { toPartial, toTable } from '../table/table.js';
import { type ParseYaml, jsonBody, readObjectBody, yamlBody } from './body-reader.js';
import { includeOf, listObjects, renderList } from './list.js';
import { type Form, negotiate } from './negotiation.js';
import type { Reply } from './reply.js';
import type { ResourceRequest } from './request-info.js';
import { answerReview } from './reviews.js';
import { selectionOf, servedEntry } from './selection.js';
import { type WatchSettings, openWatch } from './watch.js';

/** One request on a resource, with its body already read. */
export interface ResourceExchange {
  readonly info: ResourceRequest;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly userAgent: string;
  readonly accept: string | undefined;
  readonly mediaType: string;
  readonly body: Buffer;
  readonly parseYaml: ParseYaml;
}

export interface ResourceServices {
  readonly core: Core;
  readonly users: Users;
  readonly faults: Faults;
  readonly watch: WatchSettings;
}

export function handleResource(services: ResourceServices, exchange: ResourceExchange, reply: Reply): void {
  const { core } = services;
  const { info, query } = exchange;
  const type = core.catalog.find(info.group, info.version, info.resource);
  if (type === undefined)
    throw core.catalog.hasGroupVersion(info.group, info.version) ? refuse.noSuchPath() : refuse.pageNotFound();
  if (type.namespaced && info.namespace === undefined && (info.name !== '' || info.verb === 'create'))
    throw refuse.noSuchPath();
  if (!type.namespaced && info.namespace !== undefined) throw refuse.noSuchPath();
  const form = negotiate(exchange.accept);
  if (info.subresource !== '') {
    handleSubresource(services, exchange, type, reply, form);
    return;
  }
  if (!type.verbs.includes(info.verb) || (info.name === '' && (info.verb === 'update' || info.verb === 'patch')))
    throw refuse.methodNotAllowed();
  switch (info.verb) {
    case 'get':
      sendObject(core, type, reply, 200, currentObject(core, type, info.namespace, info.name), form, query);
      return;
    case 'list':
      reply.json(
        200,
        listObjects(core, type, info.namespace, query, form, {
          takeExpiredPage: () => services.faults.takeExpiredPage(),
        }),
      );
      return;
    case 'watch':
      openWatch(core, type, info.namespace, info.name, query, form, exchange.user.name, reply, services.watch);
      return;
    case 'create': {
      if (info.name !== '') throw refuse.methodNotAllowed();
      const body = readObjectBody(exchange.body, exchange.mediaType, exchange.parseYaml, type.kind);
      if (type.verbs.length === 1)
        reply.json(201, answerReview(type, body, exchange.user, services.users, services.faults));
      else
        sendWritten(
          core,
          type,
          reply,
          createObject(core, type, info.namespace, body, writeOptions(exchange)),
          form,
          query,
        );
      return;
    }
    case 'update': {
      const body = readObjectBody(exchange.body, exchange.mediaType, exchange.parseYaml, type.kind);
      sendWritten(
        core,
        type,
        reply,
        updateObject(core, type, info.namespace, info.name, body, writeOptions(exchange)),
        form,
        query,
      );
      return;
    }
    case 'patch': {
      const { kind, patch } = readPatch(exchange);
      sendWritten(
        core,
        type,
        reply,
        patchObject(core, type, info.namespace, info.name, kind, patch, patchOptions(exchange)),
        form,
        query,
      );
      return;
    }
    case 'delete': {
      const deleted = deleteObject(
        core,
        type,
        info.namespace,
        info.name,
        parseDeleteOptions(optionsBody(exchange), query),
      );
      reply.json(200, deleted.kind === 'held' ? deleted.object : deleted.status);
      return;
    }
    case 'deletecollection':
      reply.json(200, deleteCollection(services, exchange, type, form));
  }
}

function deleteCollection(
  services: ResourceServices,
  exchange: ResourceExchange,
  type: ResourceType,
  form: Form,
): object {
  const { core } = services;
  const { info, query } = exchange;
  const { matches } = selectionOf(type, info.namespace, query);
  const options = parseDeleteOptions(optionsBody(exchange), query);
  const items: Entry[] = core.store
    .collection(type.storage)
    .entries()
    .filter(matches)
    .map((entry) => servedEntry(entry, type));
  for (const { object } of items)
    deleteObject(core, type, object.metadata.namespace, object.metadata.name ?? '', options);
  return renderList(core, type, items, { resourceVersion: String(core.store.version) }, form, query);
}

function handleSubresource(
  services: ResourceServices,
  exchange: ResourceExchange,
  type: ResourceType,
  reply: Reply,
  form: Form,
): void {
  const { core } = services;
  const { info, query } = exchange;
  const { subresource } = info;
  if (subresource === 'token' && type.storage === '/serviceaccounts' && info.verb === 'create') {
    const account = currentObject(core, type, info.namespace, info.name);
    reply.json(
      201,
      issueToken(
        services,
        account,
        readObjectBody(exchange.body, exchange.mediaType, exchange.parseYaml, 'TokenRequest'),
      ),
    );
    return;
  }
  const exists =
    (subresource === 'status' && type.hasStatus) ||
    (subresource === 'scale' && type.scale !== undefined) ||
    (subresource === 'finalize' && type.storage === '/namespaces');
  if (!exists) throw refuse.noSuchPath();
  const current = currentObject(core, type, info.namespace, info.name);
  if (info.verb === 'get') {
    if (subresource === 'scale') reply.json(200, toScale(type, current));
    else sendObject(core, type, reply, 200, current, form, query);
    return;
  }
  const options = patchOptions(exchange);
  if (info.verb === 'update') {
    const body = readObjectBody(
      exchange.body,
      exchange.mediaType,
      exchange.parseYaml,
      subresource === 'scale' ? 'Scale' : type.kind,
    );
    if (subresource === 'scale') reply.json(200, storeScale(core, type, current, body, options).object);
    else if (subresource === 'finalize')
      reply.json(
        200,
        storeNext(
          core,
          type,
          current,
          { ...current, spec: { finalizers: valueAt(body, 'spec', 'finalizers') ?? [] } },
          options,
        ).object,
      );
    else
      sendWritten(core, type, reply, updateObject(core, type, info.namespace, info.name, body, options), form, query);
    return;
  }
  if (info.verb !== 'patch' || subresource === 'finalize') throw refuse.methodNotAllowed();
  const { kind, patch } = readPatch(exchange);
  if (subresource === 'status') {
    sendWritten(
      core,
      type,
      reply,
      patchObject(core, type, info.namespace, info.name, kind, patch, options),
      form,
      query,
    );
    return;
  }
  if (kind === 'apply')
    throw refuse.unsupportedMediaType(
      'application/apply-patch+yaml',
      Object.keys(patchKindByMediaType).filter((one) => !one.includes('apply')),
    );
  const scale =
    kind === 'strategic'
      ? patchedJson(
          toScale(type, current),
          { ...type, message: 'autoscaling/v1.Scale', shape: metadataShape() },
          'merge',
          patch,
        )
      : patchedJson(toScale(type, current), type, kind, patch);
  reply.json(200, storeScale(core, type, current, scale, options).object);
}

function readPatch(exchange: ResourceExchange): {
  readonly kind: 'json' | 'merge' | 'strategic' | 'apply';
  readonly patch: Json;
} {
  const kind = patchKindByMediaType[exchange.mediaType];
  if (kind === undefined) throw refuse.unsupportedMediaType(exchange.mediaType, Object.keys(patchKindByMediaType));
  const isJson = kind !== 'apply' || /^\s*[{[]/.test(exchange.body.subarray(0, 64).toString());
  return { kind, patch: isJson ? jsonBody(exchange.body, 'patch') : yamlBody(exchange.body, exchange.parseYaml) };
}

function optionsBody(exchange: ResourceExchange): JsonObject | undefined {
  return exchange.body.length === 0
    ? undefined
    : readObjectBody(exchange.body, exchange.mediaType, exchange.parseYaml, 'DeleteOptions');
}

const optionsByVerb: Readonly<Record<string, string>> = { create: 'Create', patch: 'Patch', update: 'Update' };

function writeOptions({ info, query, userAgent }: ResourceExchange): WriteOptions {
  const validation = query.get('fieldValidation') ?? 'Warn';
  if (validation !== 'Ignore' && validation !== 'Warn' && validation !== 'Strict')
    throw refuse.invalid(
      { group: 'meta.k8s.io', plural: 'options', kind: `${optionsByVerb[info.verb] ?? 'Update'}Options` },
      '',
      [
        {
          reason: 'FieldValueNotSupported',
          message: `Unsupported value: ${JSON.stringify(validation)}: supported values: "Ignore", "Warn", "Strict"`,
          field: 'fieldValidation',
        },
      ],
    );
  const dryRun = query.getAll('dryRun');
  if (dryRun.some((one) => one !== 'All' && one !== ''))
    throw refuse.invalid(
      { group: 'meta.k8s.io', plural: 'options', kind: `${optionsByVerb[info.verb] ?? 'Update'}Options` },
      '',
      [
        {
          reason: 'FieldValueNotSupported',
          message: `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`,
          field: 'dryRun',
        },
      ],
    );
  const named = query.get('fieldManager') ?? '';
  return {
    manager: named === '' ? (userAgent.split('/')[0] ?? '').slice(0, 128) || 'unknown' : named,
    dryRun: dryRun.includes('All'),
    fieldValidation: validation,
    subresource:
      info.subresource === 'status' || info.subresource === 'scale' || info.subresource === 'finalize'
        ? info.subresource
        : '',
  };
}

function patchOptions(exchange: ResourceExchange): PatchOptions {
  return {
    ...writeOptions(exchange),
    force: /^(true|1)$/.test(exchange.query.get('force') ?? ''),
    hasFieldManager: (exchange.query.get('fieldManager') ?? '') !== '',
  };
}

function sendWritten(
  core: Core,
  type: ResourceType,
  reply: Reply,
  written: Written,
  form: Form,
  query: URLSearchParams,
): void {
  reply.warn(written.warnings);
  sendObject(core, type, reply, written.code, written.object, form, query);
}

function sendObject(
  core: Core,
  type: ResourceType,
  reply: Reply,
  code: number,
  object: KubeObject,
  form: Form,
  query: URLSearchParams,
): void {
  if (form === 'table')
    reply.json(
      code,
      toTable(type, [object], includeOf(query), core.now().getTime(), {
        resourceVersion: object.metadata.resourceVersion ?? '',
      }),
    );
  else reply.json(code, form === 'partial' ? toPartial(object) : object);
}

/** The token works: it authenticates as the service account. */
function issueToken(services: ResourceServices, account: KubeObject, body: JsonObject): JsonObject {
  const { name = '', namespace = '' } = account.metadata;
  const spec = isObject(body['spec']) ? body['spec'] : {};
  const seconds = typeof spec['expirationSeconds'] === 'number' ? spec['expirationSeconds'] : 3600;
  const token = services.users.add({
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    token: randomBytes(24).toString('base64url'),
  });
  const expires = new Date(services.core.now().getTime() + seconds * 1000).toISOString().replace(/\.\d{3}Z$/, 'Z');
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace },
    spec: { ...spec, expirationSeconds: seconds },
    status: { token, expirationTimestamp: expires },
  };
}
