import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ReverserError, type Clock, type JsonObject, type JsonValue } from '@gitops-reverser/kernel-api';
import { kubeconfigCredentials, type KubeCredentials } from './credentials.js';
import { readKubeconfigText } from './kubeconfig-text.js';

/** In the order in which they are reported when several apply (30, 1.2). */
export type KubeconfigReason =
  | 'KubeConfigInvalid'
  | 'KubeConfigExecNotAllowed'
  | 'KubeConfigInsecureTLSNotAllowed'
  | 'KubeConfigProxyNotAllowed'
  | 'KubeConfigFileReferenceNotAllowed';

export interface KubeconfigPolicy {
  /** `--insecure-kubeconfig-exec` */
  readonly allowExec?: boolean;
  /** `--insecure-kubeconfig-tls`: skipped verification and plain http. */
  readonly allowInsecureTls?: boolean;
  /** `--insecure-kubeconfig-proxy` */
  readonly allowProxy?: boolean;
}

/** The current context of a kubeconfig that passed every check. Holds credentials: never log it. */
export interface CheckedKubeconfig {
  readonly server: string;
  readonly caData?: string;
  readonly caFile?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly proxyUrl?: string;
  readonly namespace?: string;
  readonly readsFiles: boolean;
  readonly user: {
    readonly certData?: string;
    readonly certFile?: string;
    readonly keyData?: string;
    readonly keyFile?: string;
    readonly token?: string;
    readonly tokenFile?: string;
    readonly username?: string;
    readonly password?: string;
    readonly as?: string;
    readonly asGroups: readonly string[];
    readonly exec?: JsonObject;
    readonly authProvider?: { readonly name: string; readonly config: JsonObject };
  };
}

/**
 * Checks a kubeconfig that somebody else wrote, such as the content of a `KubeProvider`'s Secret: before any dial, without
 * starting a process or opening a file (FC-SEC-3).
 *
 * @param where for messages: `KubeProvider "prod", Secret gitops-reverser/prod-kubeconfig key "value"`
 * @throws ReverserError with a `KubeconfigReason`, naming the offending fields and never a value of them
 */
export function parseKubeconfig(text: string, where: string, policy: KubeconfigPolicy = {}): CheckedKubeconfig {
  return check(text, {
    where,
    allowExec: false,
    allowInsecureTls: false,
    allowProxy: false,
    ...policy,
    filesFrom: undefined,
    allowAnonymous: false,
  });
}

export function openKubeconfig(text: string, where: string, policy: KubeconfigPolicy, clock: Clock): KubeCredentials {
  return kubeconfigCredentials(parseKubeconfig(text, where, policy), clock);
}

export interface TrustedKubeconfigOptions {
  readonly clock: Clock;
  /** Exec plugins and legacy auth providers of the file's owner. Default false. */
  readonly allowExec?: boolean;
}

/**
 * Reads the file an administrator named with `--kubeconfig`. It may refer to other files, skip TLS verification, use plain http and
 * a proxy; it may run programs only with `allowExec`.
 */
export async function loadTrustedKubeconfig(path: string, options: TrustedKubeconfigOptions): Promise<KubeCredentials> {
  const where = `kubeconfig file ${path}`;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (thrown) {
    throw new ReverserError({
      reason: 'KubeConfigInvalid',
      retry: 'when-changed',
      message: `${where}: cannot be read (${(thrown as NodeJS.ErrnoException).code ?? 'unknown error'}); check the path and its permissions`,
      cause: thrown,
    });
  }
  const allowExec = options.allowExec ?? false;
  const rules: Rules = {
    where,
    allowExec,
    allowInsecureTls: true,
    allowProxy: true,
    filesFrom: dirname(resolve(path)),
    allowAnonymous: true,
  };
  return kubeconfigCredentials(check(text, rules), options.clock);
}

interface Rules {
  readonly where: string;
  readonly allowExec: boolean;
  readonly allowInsecureTls: boolean;
  readonly allowProxy: boolean;
  /** Folder relative file names start from; absent: file names are refused. */
  readonly filesFrom: string | undefined;
  readonly allowAnonymous: boolean;
}

const CLUSTER_FIELDS = [
  'server',
  'certificate-authority-data',
  'certificate-authority',
  'insecure-skip-tls-verify',
  'tls-server-name',
  'proxy-url',
  'disable-compression',
  'extensions',
];
const USER_FIELDS = [
  'client-certificate-data',
  'client-certificate',
  'client-key-data',
  'client-key',
  'token',
  'tokenFile',
  'username',
  'password',
  'as',
  'as-groups',
  'exec',
  'auth-provider',
  'extensions',
];
/** Without one of these every request would be anonymous, which some front proxies do not survive (30, SC-28). */
const CREDENTIAL_FIELDS = [
  'client-certificate-data',
  'client-certificate',
  'token',
  'tokenFile',
  'username',
  'exec',
  'auth-provider',
];
/** Of legacy auth providers; each names a file that would be read. */
const PROVIDER_FILES = ['tokenFile', 'idp-certificate-authority'];

const REMEDY: Readonly<Record<KubeconfigReason, string>> = {
  KubeConfigInvalid: 'correct the kubeconfig',
  KubeConfigExecNotAllowed: 'use a token or a client certificate; programs run only with --insecure-kubeconfig-exec',
  KubeConfigInsecureTLSNotAllowed:
    'use https with certificate-authority-data; otherwise only with --insecure-kubeconfig-tls',
  KubeConfigProxyNotAllowed: 'remove it; an http or https proxy is used only with --insecure-kubeconfig-proxy',
  KubeConfigFileReferenceNotAllowed:
    'put the content itself into the matching "-data" or "token" field; file paths are never read',
};
const ORDER: readonly KubeconfigReason[] = [
  'KubeConfigInvalid',
  'KubeConfigExecNotAllowed',
  'KubeConfigInsecureTLSNotAllowed',
  'KubeConfigProxyNotAllowed',
  'KubeConfigFileReferenceNotAllowed',
];

/** Problems of one kubeconfig, all of them, so that nobody corrects one field only to meet the next. */
class Problems {
  readonly #where: string;
  readonly #found: { readonly reason: KubeconfigReason; readonly what: string }[] = [];

  constructor(where: string) {
    this.#where = where;
  }

  add(reason: KubeconfigReason, what: string): void {
    this.#found.push({ reason, what });
  }

  throwAny(): void {
    const reason = ORDER.find((candidate) => this.#found.some((problem) => problem.reason === candidate));
    if (reason === undefined) return;
    const reasons = ORDER.filter((candidate) => this.#found.some((problem) => problem.reason === candidate));
    const said = reasons.map(
      (each) =>
        `${this.#found
          .filter((problem) => problem.reason === each)
          .map(({ what }) => what)
          .join(', ')}: ${REMEDY[each]}`,
    );
    throw new ReverserError({
      reason,
      retry: 'when-changed',
      message: `${this.#where}: ${said.join('; ')}`,
      details: { reasons },
    });
  }
}

function check(text: string, rules: Rules): CheckedKubeconfig {
  const problems = new Problems(rules.where);
  const invalid = (what: string): never => {
    problems.add('KubeConfigInvalid', what);
    problems.throwAny();
    throw new TypeError('unreachable');
  };
  const read = readKubeconfigText(text);
  if (typeof read === 'string') return invalid(read);
  if (read['kind'] !== undefined && read['kind'] !== 'Config') invalid('kind is not Config');

  const name = read['current-context'];
  if (typeof name !== 'string' || name === '') return invalid('current-context is not set');
  const context =
    findNamed(read['contexts'], name, 'context') ??
    invalid('current-context names no entry of contexts, or not exactly one');
  const clusterName = context['cluster'];
  const cluster =
    (typeof clusterName === 'string' ? findNamed(read['clusters'], clusterName, 'cluster') : undefined) ??
    invalid('the cluster of the current context names no entry of clusters, or not exactly one');
  const userName = context['user'];
  const hasUser = typeof userName === 'string' && userName !== '';
  if (!hasUser && !rules.allowAnonymous) invalid('the current context has no user');
  const user = hasUser
    ? (findNamed(read['users'], userName, 'user') ??
      invalid('the user of the current context names no entry of users, or not exactly one'))
    : {};

  const checkedCluster = checkCluster(new Fields(cluster, 'cluster', problems), rules, problems);
  const checkedUser = checkUser(new Fields(user, 'user', problems), rules, problems);
  problems.throwAny();
  const namespace = context['namespace'];
  const { caFile } = checkedCluster;
  return Object.freeze({
    ...checkedCluster,
    ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
    readsFiles: caFile !== undefined || checkedUser.certFile !== undefined || checkedUser.keyFile !== undefined,
    user: checkedUser,
  });
}

function checkCluster(
  fields: Fields,
  rules: Rules,
  problems: Problems,
): Pick<CheckedKubeconfig, 'server' | 'caData' | 'caFile' | 'tlsServerName' | 'insecureSkipTlsVerify' | 'proxyUrl'> {
  fields.refuseUnknown(CLUSTER_FIELDS);
  const server = checkServer(fields.string('server'), rules, problems);
  const skip = fields.boolean('insecure-skip-tls-verify');
  if (skip && !rules.allowInsecureTls)
    problems.add('KubeConfigInsecureTLSNotAllowed', 'cluster.insecure-skip-tls-verify');
  const proxyUrl = fields.string('proxy-url');
  if (proxyUrl !== undefined && !(rules.allowProxy && isHttpUrl(proxyUrl)))
    problems.add('KubeConfigProxyNotAllowed', 'cluster.proxy-url');
  return {
    server,
    insecureSkipTlsVerify: skip,
    ...fields.pem('certificate-authority-data', 'caData'),
    ...fields.file('certificate-authority', 'caFile', rules),
    ...given('tlsServerName', fields.string('tls-server-name')),
    ...given('proxyUrl', proxyUrl),
  };
}

function checkServer(said: string | undefined, rules: Rules, problems: Problems): string {
  const invalid = (what: string): string => {
    problems.add('KubeConfigInvalid', `cluster.server ${what}`);
    return '';
  };
  if (said === undefined || !isHttpUrl(said)) return invalid('is no absolute http or https URL');
  const url = new URL(said);
  if (url.username !== '' || url.password !== '') return invalid('holds a user part');
  if (url.search !== '' || url.hash !== '') return invalid('holds a query or a fragment');
  // 30, SC-29: one provider is one logical cluster.
  if (/\/clusters\/(\*|%2a)(\/|$)/i.test(url.pathname))
    return invalid('names the wildcard workspace /clusters/*; name one workspace');
  if (url.protocol === 'http:' && !rules.allowInsecureTls)
    problems.add('KubeConfigInsecureTLSNotAllowed', 'cluster.server with http');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function checkUser(fields: Fields, rules: Rules, problems: Problems): CheckedKubeconfig['user'] {
  fields.refuseUnknown(USER_FIELDS);
  if (!rules.allowAnonymous && !CREDENTIAL_FIELDS.some((name) => fields.has(name))) {
    problems.add('KubeConfigInvalid', 'the user of the current context holds no credential');
  }
  const exec = fields.object('exec');
  if (exec !== undefined && !rules.allowExec) problems.add('KubeConfigExecNotAllowed', 'user.exec');
  const provider = fields.object('auth-provider');
  if (provider !== undefined) checkProvider(provider, rules, problems);
  const as = fields.header('as');
  const asGroups = fields.headers('as-groups');
  if (asGroups.length > 0 && as === undefined) problems.add('KubeConfigInvalid', 'user.as-groups without user.as');
  const username = fields.string('username');
  if (username?.includes(':') === true) problems.add('KubeConfigInvalid', 'user.username with a colon');
  const hasCert = fields.has('client-certificate-data') || fields.has('client-certificate');
  const hasKey = fields.has('client-key-data') || fields.has('client-key');
  if (hasCert !== hasKey)
    problems.add(
      'KubeConfigInvalid',
      hasCert
        ? 'user.client-certificate-data without user.client-key-data'
        : 'user.client-key-data without user.client-certificate-data',
    );
  return {
    ...fields.pem('client-certificate-data', 'certData'),
    ...fields.file('client-certificate', 'certFile', rules),
    ...fields.pem('client-key-data', 'keyData'),
    ...fields.file('client-key', 'keyFile', rules),
    ...given('token', fields.header('token')),
    ...fields.file('tokenFile', 'tokenFile', rules),
    ...given('username', username),
    ...given('password', fields.string('password')),
    ...given('as', as),
    asGroups,
    ...given('exec', exec),
    ...(provider === undefined
      ? {}
      : { authProvider: { name: String(provider['name'] ?? ''), config: objectOf(provider['config']) ?? {} } }),
  };
}

function checkProvider(provider: JsonObject, rules: Rules, problems: Problems): void {
  if (!rules.allowExec) problems.add('KubeConfigExecNotAllowed', 'user.auth-provider');
  if (rules.filesFrom !== undefined) return;
  const config = objectOf(provider['config']) ?? {};
  for (const name of PROVIDER_FILES)
    if (config[name] !== undefined)
      problems.add('KubeConfigFileReferenceNotAllowed', `user.auth-provider.config.${name}`);
}

/** The fields of one cluster or user; an empty string is an absent field, as for kubectl. */
class Fields {
  readonly #object: JsonObject;
  readonly #owner: string;
  readonly #problems: Problems;

  constructor(object: JsonObject, owner: string, problems: Problems) {
    this.#object = object;
    this.#owner = owner;
    this.#problems = problems;
  }

  has(name: string): boolean {
    const value = this.#object[name];
    return value !== undefined && value !== null && value !== '';
  }

  /** 10, 11.5: a field we do not know may mean another identity; it is refused, never stripped. */
  refuseUnknown(known: readonly string[]): void {
    for (const name of Object.keys(this.#object)) {
      if (known.includes(name) || !this.has(name)) continue;
      this.#invalid(/^[\w.-]{1,63}$/.test(name) ? name : 'field with an unusual name', 'is not supported');
    }
  }

  string(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#object[name];
    if (typeof value === 'string') return value;
    this.#invalid(name, 'is no string');
    return undefined;
  }

  boolean(name: string): boolean {
    if (!this.has(name)) return false;
    const value = this.#object[name];
    if (typeof value !== 'boolean') this.#invalid(name, 'is neither true nor false');
    return value === true;
  }

  object(name: string): JsonObject | undefined {
    if (!this.has(name)) return undefined;
    const value = objectOf(this.#object[name]);
    if (value === undefined) this.#invalid(name, 'is no map');
    return value;
  }

  /** A string that travels in a header. */
  header(name: string): string | undefined {
    const value = this.string(name)?.trim();
    if (value === undefined || isHeaderValue(value)) return value;
    this.#invalid(name, 'holds characters that cannot be sent');
    return undefined;
  }

  headers(name: string): readonly string[] {
    if (!this.has(name)) return [];
    const value = this.#object[name];
    if (
      Array.isArray(value) &&
      value.every((item): item is string => typeof item === 'string' && item !== '' && isHeaderValue(item))
    )
      return value;
    this.#invalid(name, 'is no list of plain strings');
    return [];
  }

  pem<K extends string>(name: string, key: K): { [P in K]?: string } {
    const value = this.string(name);
    if (value !== undefined && !Buffer.from(value, 'base64').toString('latin1').includes('-----BEGIN '))
      this.#invalid(name, 'is no base64 of a PEM text');
    return given(key, value);
  }

  file<K extends string>(name: string, key: K, rules: Rules): { [P in K]?: string } {
    if (!this.has(name)) return {};
    if (rules.filesFrom === undefined) {
      this.#problems.add('KubeConfigFileReferenceNotAllowed', `${this.#owner}.${name}`);
      return {};
    }
    const value = this.string(name);
    return value === undefined ? {} : given(key, resolve(rules.filesFrom, value));
  }

  #invalid(name: string, what: string): void {
    this.#problems.add('KubeConfigInvalid', `${this.#owner}.${name} ${what}`);
  }
}

/** The one entry of that name; two of one name would leave it to luck which credential is meant. */
function findNamed(list: JsonValue | undefined, name: string, key: string): JsonObject | undefined {
  if (!Array.isArray(list)) return undefined;
  const found = list.filter((entry: JsonValue) => objectOf(entry)?.['name'] === name);
  return found.length === 1 ? objectOf(objectOf(found[0])?.[key]) : undefined;
}

const objectOf = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
const isHttpUrl = (value: string): boolean => /^https?:\/\//i.test(value) && URL.canParse(value);
const isHeaderValue = (value: string): boolean => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value);

function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
