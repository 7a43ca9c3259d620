import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';

import { Kubectl } from './kubectl.js';
import { freePort, startProcess } from './processes.js';
import type { ServerProcess } from './processes.js';
import type { ServerName, ServerPaths } from './server-binaries.js';

export interface ControlPlaneUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

export interface ControlPlaneOptions {
  /** Folder for data, certificates, kubeconfigs and logs. */
  readonly dir: string;
  readonly binaries: ServerPaths;
  /** Garbage collection, ReplicaSets and the end of namespaces; off by default. */
  readonly controllerManager?: boolean;
  /** Beside `admin` (in system:masters), `alice` and `bob` (both in `developers`). */
  readonly users?: readonly ControlPlaneUser[];
  /** Appended to the API server's flags, for instance `--watch-cache=false`. */
  readonly apiServerFlags?: readonly string[];
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: string;
}

const everyone: readonly ControlPlaneUser[] = [
  { name: 'admin', groups: ['system:masters'] },
  { name: 'alice', groups: ['developers'] },
  { name: 'bob', groups: ['developers'] },
];

interface Parts {
  readonly options: ControlPlaneOptions;
  readonly tokens: ReadonlyMap<string, string>;
  readonly port: number;
  readonly etcdPort: number;
  readonly etcd: ServerProcess;
}

/** A real etcd and kube-apiserver on loopback. */
export class ControlPlane implements AsyncDisposable {
  readonly dir: string;
  readonly url: string;
  /** Certificate to trust, made by the API server itself. */
  readonly caFile: string;
  readonly etcd: ServerProcess;
  readonly #parts: Parts;
  #apiServer: ServerProcess | undefined;
  #controllerManager: ServerProcess | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.dir = parts.options.dir;
    this.etcd = parts.etcd;
    this.url = `https://127.0.0.1:${parts.port}`;
    this.caFile = join(this.dir, 'certs', 'apiserver.crt');
  }

  get apiServer(): ServerProcess {
    if (this.#apiServer === undefined) throw new Error('the API server is not running');
    return this.#apiServer;
  }

  token(user = 'admin'): string {
    const token = this.#parts.tokens.get(user);
    if (token === undefined)
      throw new Error(`this control plane has no user ${user}; it has ${[...this.#parts.tokens.keys()].join(', ')}`);
    return token;
  }

  /** A kubeconfig file for one user. */
  kubeconfigFile(user = 'admin'): string {
    this.token(user);
    return join(this.dir, 'kubeconfigs', user);
  }

  async kubeconfig(user = 'admin'): Promise<string> {
    const ca = (await readFile(this.caFile)).toString('base64');
    return `apiVersion: v1
kind: Config
clusters:
  - name: e2e
    cluster:
      server: ${this.url}
      certificate-authority-data: ${ca}
users:
  - name: ${user}
    user:
      token: ${this.token(user)}
contexts:
  - name: e2e
    context:
      cluster: e2e
      user: ${user}
current-context: e2e
`;
  }

  kubectl(user = 'admin'): Kubectl {
    return new Kubectl({
      binary: need(this.#parts.options.binaries, 'kubectl'),
      kubeconfigFile: this.kubeconfigFile(user),
      cacheDir: join(this.dir, 'kubectl-cache'),
    });
  }

  /** One plain request to the API server. */
  async request(
    path: string,
    options: {
      readonly user?: string;
      readonly method?: string;
      readonly body?: unknown;
      readonly contentType?: string;
    } = {},
  ): Promise<ApiAnswer> {
    const ca = await readFile(this.caFile);
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    return await new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.token(options.user)}`,
        ...(body === undefined ? {} : { 'content-type': options.contentType ?? 'application/json' }),
      };
      const request = httpsRequest(
        `${this.url}${path}`,
        { method: options.method ?? 'GET', ca, headers, agent: false, timeout: 30_000 },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          );
          response.on('error', reject);
        },
      );
      request.on('timeout', () => request.destroy(new Error(`${path} was not answered within 30 s`)));
      request.on('error', reject).end(body);
    });
  }

  /** Starts the API server on the same etcd, port and certificate, and waits until it is ready. */
  async startApiServer(): Promise<void> {
    const { options, port, etcdPort } = this.#parts;
    const { dir } = options;
    this.#apiServer = await startProcess({
      name: 'kube-apiserver',
      command: need(options.binaries, 'kube-apiserver'),
      logFile: join(dir, 'logs', 'kube-apiserver.log'),
      args: [
        ...[
          '--etcd-servers',
          `http://127.0.0.1:${etcdPort}`,
          '--cert-dir',
          join(dir, 'certs'),
          '--bind-address',
          '127.0.0.1',
          '--secure-port',
          String(port),
        ],
        ...[
          '--service-account-issuer',
          'https://kubernetes.default.svc',
          '--service-account-key-file',
          join(dir, 'sa.key'),
        ],
        ...['--service-account-signing-key-file', join(dir, 'sa.key'), '--service-cluster-ip-range', '10.96.0.0/16'],
        ...['--token-auth-file', join(dir, 'tokens.csv'), '--authorization-mode', 'RBAC'],
        ...['--disable-admission-plugins', 'ServiceAccount', '--endpoint-reconciler-type', 'none'],
        ...(options.apiServerFlags ?? []),
      ],
    });
    await this.#apiServer.waitFor('/readyz to answer ok', async () => (await this.request('/readyz')).body === 'ok', {
      deadlineMs: 60_000,
      intervalMs: 100,
    });
    await this.#apiServer.waitFor(
      'the namespace default',
      async () => (await this.request('/api/v1/namespaces/default')).status === 200,
      { deadlineMs: 30_000, intervalMs: 100 },
    );
  }

  /** Kills the API server and keeps etcd: connections are refused until it is started again. */
  async stopApiServer(): Promise<void> {
    // On SIGTERM it waits up to 60 s for open watches.
    await this.#apiServer?.kill();
    this.#apiServer = undefined;
  }

  /** After this every older resourceVersion is expired. */
  async restartApiServer(): Promise<void> {
    await this.stopApiServer();
    await this.startApiServer();
  }

  async startControllerManager(): Promise<void> {
    const { options } = this.#parts;
    const { dir } = options;
    this.#controllerManager = await startProcess({
      name: 'kube-controller-manager',
      command: need(options.binaries, 'kube-controller-manager'),
      logFile: join(dir, 'logs', 'kube-controller-manager.log'),
      args: [
        ...[
          '--kubeconfig',
          this.kubeconfigFile(),
          '--bind-address',
          '127.0.0.1',
          '--secure-port',
          String(await freePort()),
          '--cert-dir',
          join(dir, 'kcm-certs'),
        ],
        ...[
          '--leader-elect=false',
          '--service-account-private-key-file',
          join(dir, 'sa.key'),
          '--root-ca-file',
          this.caFile,
        ],
        // Without it a folder under /usr/libexec is made.
        ...['--flex-volume-plugin-dir', join(dir, 'flex')],
        '--controllers=*,-node-lifecycle-controller,-node-ipam-controller,-service-lb-controller,-cloud-node-lifecycle-controller,-node-route-controller',
      ],
    });
    await this.#controllerManager.waitFor(
      'kube-root-ca.crt',
      async () => (await this.request('/api/v1/namespaces/default/configmaps/kube-root-ca.crt')).status === 200,
      { deadlineMs: 60_000, intervalMs: 200 },
    );
  }

  async stop(): Promise<void> {
    await this.#controllerManager?.kill();
    await this.stopApiServer();
    await this.etcd.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

function need(binaries: ServerPaths, name: ServerName): string {
  const path = binaries[name];
  if (path === undefined) throw new Error(`the control plane needs ${name}: ask resolveServerBinaries for it`);
  return path;
}

/** Starts etcd and kube-apiserver; ready in 3 to 5 seconds. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { dir } = options;
  await mkdir(join(dir, 'kubeconfigs'), { recursive: true });
  const users = [...everyone, ...(options.users ?? [])];
  const tokens = new Map(users.map(({ name }) => [name, randomBytes(16).toString('hex')]));
  const rows = users.map(({ name, groups = [] }) => `${tokens.get(name)},${name},${name},"${groups.join(',')}"`);
  await writeFile(join(dir, 'tokens.csv'), `${rows.join('\n')}\n`, { mode: 0o600 });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });

  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const client = `http://127.0.0.1:${etcdPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const etcd = await startProcess({
    name: 'etcd',
    command: need(options.binaries, 'etcd'),
    logFile: join(dir, 'logs', 'etcd.log'),
    args: [
      ...['--data-dir', join(dir, 'etcd'), '--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
      ...['--unsafe-no-fsync', '--log-level', 'warn'],
    ],
  });
  const plane = new ControlPlane({ options, tokens, port, etcdPort, etcd });
  try {
    await plane.startApiServer();
    for (const { name } of users)
      await writeFile(plane.kubeconfigFile(name), await plane.kubeconfig(name), { mode: 0o600 });
    if (options.controllerManager === true) await plane.startControllerManager();
  } catch (error) {
    await plane.stop();
    throw error;
  }
  return plane;
}
