import {
  messageOf,
  ReverserError,
  type Clock,
  type JsonObject,
  type JsonValue,
  type Logger,
} from '@gitops-reverser/kernel-api';
import { kindNames, toCrd, version, type KindName } from '@gitops-reverser/crd-types';
import { isNotFound, KubeClient, type KubeConnection } from '@gitops-reverser/toolkit-kube';

/** Between two looks while something is missing or the API server is away. */
const RETRY_MS = 2_000;
const REMEDY =
  'install the CRDs of this version before the operator: gitops-reverser print-crds | kubectl apply --server-side -f -';
/** Without these nothing can be read; the others wait for their own time. */
const NEEDED: readonly KindName[] = [
  'GitProvider',
  'GitBranch',
  'GitTarget',
  'KubeProvider',
  'WatchRule',
  'ClusterWatchRule',
];

export interface InstalledCrds {
  /** What is still missing, for the readiness check; undefined once everything needed is installed. */
  missing(): string | undefined;
  /**
   * Resolves once every CRD this version needs is installed with every field it needs, or when `signal` aborts.
   *
   * @throws ReverserError CrdOutdated: an installed CRD lacks a field, which would be pruned without a word (VR-4)
   */
  ready(signal: AbortSignal): Promise<void>;
}

/** Compares what is installed with what this version was built for. Newer CRDs are fine. */
export function installedCrds(connection: KubeConnection, clock: Clock, logger: Logger): InstalledCrds {
  const client = new KubeClient(connection);
  let missing: string | undefined = 'CRDs were not looked at so far';
  return {
    missing: () => missing,
    async ready(signal) {
      let said = '';
      while (!signal.aborted) {
        missing = await look(client, logger, signal);
        if (missing === undefined) return;
        if (missing !== said) logger.warn({ problem: missing }, 'waiting for the CRDs');
        said = missing;
        await clock.sleep(RETRY_MS, signal);
      }
    },
  };
}

async function look(client: KubeClient, logger: Logger, signal: AbortSignal): Promise<string | undefined> {
  const absent: string[] = [];
  const outdated: string[] = [];
  for (const kind of kindNames) {
    const wanted = toCrd(kind);
    const { name } = wanted.metadata;
    const path = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions', name };
    try {
      const lacking = lackingFields(kind, await client.get(path, signal));
      const more = lacking.length > 1 ? ` and ${lacking.length - 1} more` : '';
      if (lacking.length > 0) outdated.push(`${kind} (CRD ${name}) lacks ${lacking[0]}${more}`);
    } catch (thrown) {
      if (signal.aborted) return 'stopped';
      if (isNotFound(thrown)) {
        if (NEEDED.includes(kind)) absent.push(name);
        continue;
      }
      const code = (thrown as { readonly code?: number }).code;
      if (code !== 403) return `CRD ${name} cannot be read: ${messageOf(thrown)}`;
      // 10, 15.1: the right is granted for convenience; without it nothing can be compared.
      logger.warn({ problem: messageOf(thrown) }, 'CRDs may not be read; their fields were not compared');
      return undefined;
    }
  }
  if (outdated.length > 0) {
    throw new ReverserError({
      reason: 'CrdOutdated',
      retry: 'never',
      message: `installed CRDs are older than this operator: ${outdated.join('; ')}; ${REMEDY}`,
    });
  }
  return absent.length === 0 ? undefined : `not installed: ${absent.join(', ')}; ${REMEDY}`;
}

/** Paths of fields of `kind` that an installed CRD does not have, in order; the version itself when it is not served. */
export function lackingFields(kind: KindName, installed: JsonObject): readonly string[] {
  const found = servedVersion(installed);
  const wanted = servedVersion(toCrd(kind) as unknown as JsonObject);
  if (found === undefined || wanted === undefined) return [`version ${version}`];
  return [...lacking(schemaOf(wanted), schemaOf(found), '')];
}

function* lacking(wanted: JsonObject, installed: JsonObject, at: string): Generator<string> {
  if (installed['x-kubernetes-preserve-unknown-fields'] === true) return;
  const there = asMap(installed['properties']);
  for (const [name, schema] of Object.entries(asMap(wanted['properties']))) {
    // What API machinery owns is not part of a schema's promise.
    if (at === '' && name !== 'spec' && name !== 'status') continue;
    const path = at === '' ? name : `${at}.${name}`;
    if (there[name] === undefined) yield path;
    else yield* lacking(asMap(schema), asMap(there[name]), path);
  }
  for (const [word, suffix] of [
    ['items', '[]'],
    ['additionalProperties', '.*'],
  ] as const) {
    if (wanted[word] !== undefined && installed[word] !== undefined)
      yield* lacking(asMap(wanted[word]), asMap(installed[word]), `${at}${suffix}`);
  }
}

function servedVersion(definition: JsonObject): JsonObject | undefined {
  const versions = asMap(definition['spec'])['versions'];
  if (!Array.isArray(versions)) return undefined;
  return (versions as readonly JsonValue[])
    .map(asMap)
    .find((each) => each['name'] === version && each['served'] === true);
}

const schemaOf = (served: JsonObject): JsonObject => asMap(asMap(served['schema'])['openAPIV3Schema']);
const asMap = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
