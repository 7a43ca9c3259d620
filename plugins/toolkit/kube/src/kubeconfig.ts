import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ReverserError, type Clock, type JsonObject, type JsonValue } from '@gitops-reverser/kernel-api';
import { kubeconfigCredentials, type KubeCredentials } from './credentials.js';
import { given, KubeconfigFields, objectOf } from './kubeconfig-fields.js';
import { KubeconfigProblems } from './kubeconfig-problems.js';
import { readKubeconfigText } from './kubeconfig-text.js';

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
  /** Which context; default the file's current one. */
  readonly context?: string;
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
    context: options.context,
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
  /** Absent: the current one. */
  readonly context?: string | undefined;
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

function check(text: string, rules: Rules): CheckedKubeconfig {
  const problems = new KubeconfigProblems(rules.where);
  const invalid = (what: string): never => {
    problems.add('KubeConfigInvalid', what);
    problems.throwAny();
    throw new TypeError('unreachable');
  };
  const read = readKubeconfigText(text);
  if (typeof read === 'string') return invalid(read);
  if (read['kind'] !== undefined && read['kind'] !== 'Config') invalid('kind is not Config');

  const name = rules.context ?? read['current-context'];
  if (typeof name !== 'string' || name === '') return invalid('current-context is not set');
  const context =
    findNamed(read['contexts'], name, 'context') ??
    invalid(
      rules.context === undefined
        ? 'current-context names no entry of contexts, or not exactly one'
        : 'the context asked for names no entry of contexts, or not exactly one',
    );
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

  const checkedCluster = checkCluster(new KubeconfigFields(cluster, 'cluster', problems), rules, problems);
  const checkedUser = checkUser(new KubeconfigFields(user, 'user', problems), rules, problems);
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
  fields: KubeconfigFields,
  rules: Rules,
  problems: KubeconfigProblems,
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
    ...fields.file('certificate-authority', 'caFile', rules.filesFrom),
    ...given('tlsServerName', fields.string('tls-server-name')),
    ...given('proxyUrl', proxyUrl),
  };
}

function checkServer(said: string | undefined, rules: Rules, problems: KubeconfigProblems): string {
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

function checkUser(fields: KubeconfigFields, rules: Rules, problems: KubeconfigProblems): CheckedKubeconfig['user'] {
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
    ...fields.file('client-certificate', 'certFile', rules.filesFrom),
    ...fields.pem('client-key-data', 'keyData'),
    ...fields.file('client-key', 'keyFile', rules.filesFrom),
    ...given('token', fields.header('token')),
    ...fields.file('tokenFile', 'tokenFile', rules.filesFrom),
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

function checkProvider(provider: JsonObject, rules: Rules, problems: KubeconfigProblems): void {
  if (!rules.allowExec) problems.add('KubeConfigExecNotAllowed', 'user.auth-provider');
  if (rules.filesFrom !== undefined) return;
  const config = objectOf(provider['config']) ?? {};
  for (const name of PROVIDER_FILES)
    if (config[name] !== undefined)
      problems.add('KubeConfigFileReferenceNotAllowed', `user.auth-provider.config.${name}`);
}

/** The one entry of that name; two of one name would leave it to luck which credential is meant. */
function findNamed(list: JsonValue | undefined, name: string, key: string): JsonObject | undefined {
  if (!Array.isArray(list)) return undefined;
  const found = list.filter((entry: JsonValue) => objectOf(entry)?.['name'] === name);
  return found.length === 1 ? objectOf(objectOf(found[0])?.[key]) : undefined;
}

const isHttpUrl = (value: string): boolean => /^https?:\/\//i.test(value) && URL.canParse(value);
