import { type User, type UserOption, Users, adminName } from './auth/users.js';
import { definitionType } from './crd/definition.js';
import { watchDefinitions } from './crd/registrar.js';
import { Faults } from './faults.js';
import type { ParseYaml } from './http/body-reader.js';
import { Front } from './http/front.js';
import { RequestLog } from './http/request-log.js';
import type { WatchSession } from './http/watch-session.js';
import { renderKubeconfig } from './kubeconfig.js';
import { Background } from './lifecycle/background.js';
import { collectGarbage } from './lifecycle/garbage.js';
import { watchNamespaces } from './lifecycle/namespaces.js';
import type { KubeObject } from './object.js';
import type { Core } from './objects/core.js';
import { InProcessClient, type LooseObject } from './objects/in-process.js';
import { builtinTypes } from './resources/builtin-types.js';
import { Catalog } from './resources/catalog.js';
import { Store } from './store/store.js';
import { createServerIdentity } from './tls/authority.js';
import { loadYamlParser } from './yaml.js';

export interface DevclusterOptions {
  /** HTTPS with a throw-away authority; plain HTTP when false. */
  readonly tls?: boolean;
  /** Loopback by default, and there it should stay. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port?: number;
  /** Beside `admin` (group system:masters), who is always there. */
  readonly users?: readonly UserOption[];
  /** Recorded changes for each type; older versions are answered 410. The ring is trimmed in blocks: it may hold up to twice as many. Below 16 it is exact. */
  readonly watchCacheSize?: number;
  readonly bookmarkIntervalMs?: number;
  /** How long a watch waits for a version of the future. */
  readonly tooLargeDelayMs?: number;
  readonly namespaces?: readonly string[];
  /** A `kube-root-ca.crt` in every namespace, as the controller manager makes it. */
  readonly rootCaConfigMap?: boolean;
  readonly defaultServiceAccount?: boolean;
  /** Deleted namespaces are emptied and go. */
  readonly namespaceController?: boolean;
  readonly garbageCollector?: boolean;
  /** Answered by /version. */
  readonly version?: string;
  /** Only creation, deletion and field times come from it. */
  readonly now?: () => Date;
  /** Reads YAML request bodies; the YAML toolkit's own reader by default. */
  readonly parseYaml?: ParseYaml;
}

export interface Devcluster extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** PEM of the server's authority; `undefined` without TLS. */
  readonly ca: string | undefined;
  /** A kubeconfig with everything inline. */
  kubeconfig(user?: string, options?: { readonly namespace?: string }): string;
  token(user?: string): string;
  addUser(option: UserOption): User;
  revokeUser(name: string): void;

  /** Stores many objects at once; namespaces they name are made. @returns how many */
  load(objects: Iterable<LooseObject>): number;
  /** Server-side apply of each object, in order, as one manager. */
  apply(objects: LooseObject | Iterable<LooseObject>, options?: { readonly manager?: string }): readonly KubeObject[];
  get(apiVersion: string, kind: string, name: string, namespace?: string): KubeObject | undefined;
  list(apiVersion: string, kind: string, namespace?: string): readonly KubeObject[];
  delete(apiVersion: string, kind: string, name: string, namespace?: string): void;
  /** The newest version written. */
  readonly resourceVersion: string;

  readonly faults: Faults;
  readonly requests: RequestLog;
  /** How many watches are open. */
  readonly openWatches: number;
  /** All connections are cut and every version handed out so far is expired; objects, port and tokens stay. */
  restart(): Promise<void>;
  /** Resolves when no controller has anything left to do. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Kubernetes-like API server in this process. */
export async function startDevcluster(options: DevclusterOptions = {}): Promise<Devcluster> {
  const host = options.host ?? '127.0.0.1';
  const identity =
    options.tls === false ? undefined : createServerIdentity([...new Set([host, 'localhost', '127.0.0.1'])]);
  const core: Core = {
    store: new Store(options.watchCacheSize ?? 1000),
    catalog: new Catalog(),
    now: options.now ?? (() => new Date()),
    observers: [],
  };
  for (const type of [...builtinTypes(), definitionType()]) {
    core.catalog.add(type);
    core.store.collection(type.storage);
  }
  const sessions = new Set<WatchSession>();
  const background = new Background();
  watchDefinitions(core, (gone) => {
    for (const session of [...sessions]) if (session.type.storage === gone.storage) session.close('end');
  });
  watchNamespaces(core, background, {
    rootCa:
      options.rootCaConfigMap === false
        ? undefined
        : (identity?.ca ?? 'no certificate: this devcluster serves plain HTTP\n'),
    defaultServiceAccount: options.defaultServiceAccount !== false,
    finalizes: options.namespaceController !== false,
  });
  if (options.garbageCollector !== false) collectGarbage(core, background);

  const users = new Users(options.users ?? []);
  const requests = new RequestLog();
  const faults: Faults = new Faults({
    sessions: () => sessions,
    refuseConnections: () => front.refuseConnections(),
    acceptConnections: () => front.acceptConnections(),
  });
  const front: Front = new Front(
    {
      core,
      users,
      faults,
      watch: {
        sessions,
        bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
        tooLargeDelayMs: options.tooLargeDelayMs ?? 3000,
        bookmarks: () => faults.bookmarks,
        endBookmarks: () => faults.endBookmarks,
        sendInitialEventsRefusal: () => faults.sendInitialEventsRefusal,
      },
    },
    requests,
    {
      host,
      port: options.port ?? 0,
      tls: identity,
      version: options.version ?? 'v1.36.0',
      loadYaml:
        options.parseYaml === undefined ? loadYamlParser : () => Promise.resolve(options.parseYaml as ParseYaml),
    },
  );
  const client = new InProcessClient(core);
  for (const name of options.namespaces ?? ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    client.ensureNamespace(name);
  await background.idle();
  await front.listen();

  const url = `${identity === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${front.port}`;
  const stop = async () => {
    background.stop();
    for (const session of [...sessions]) session.close('reset');
    await front.close();
  };
  return {
    url,
    host,
    port: front.port,
    ca: identity?.ca,
    kubeconfig: (user = adminName, { namespace } = {}) =>
      renderKubeconfig({ server: url, ca: identity?.ca, user, token: users.tokenOf(user), namespace }),
    token: (user = adminName) => users.tokenOf(user),
    addUser: (option) => users.find(users.add(option)) as User,
    revokeUser: (name) => users.revoke(name),
    load: (objects) => client.load(objects),
    apply: (objects, { manager = 'devcluster' } = {}) => client.apply(objects, manager),
    get: (apiVersion, kind, name, namespace) => client.get(apiVersion, kind, name, namespace),
    list: (apiVersion, kind, namespace) => client.list(apiVersion, kind, namespace),
    delete: (apiVersion, kind, name, namespace) => client.delete(apiVersion, kind, name, namespace),
    get resourceVersion() {
      return String(core.store.version);
    },
    faults,
    requests,
    get openWatches() {
      return sessions.size;
    },
    restart: async () => {
      await front.refuseConnections();
      core.store.expireAll();
      await front.acceptConnections();
    },
    idle: () => background.idle(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
