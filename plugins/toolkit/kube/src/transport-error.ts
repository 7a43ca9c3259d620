import { KubeError, isKubeError, type TransportReason } from './errors.js';
import { redacted } from './status-error.js';

const REASON_BY_CODE: Readonly<Record<string, TransportReason>> = {
  ENOTFOUND: 'NameNotResolved',
  EAI_AGAIN: 'NameNotResolved',
  EAI_FAIL: 'NameNotResolved',
  ECONNREFUSED: 'ConnectionRefused',
  EHOSTUNREACH: 'ConnectionFailed',
  ENETUNREACH: 'ConnectionFailed',
  EADDRNOTAVAIL: 'ConnectionFailed',
  ETIMEDOUT: 'ConnectTimeout',
  UND_ERR_CONNECT_TIMEOUT: 'ConnectTimeout',
  UND_ERR_HEADERS_TIMEOUT: 'HeadersTimeout',
  UND_ERR_BODY_TIMEOUT: 'RequestTimeout',
  UND_ERR_SOCKET: 'ConnectionCut',
  UND_ERR_DESTROYED: 'ConnectionClosed',
  UND_ERR_CLOSED: 'ConnectionClosed',
  UND_ERR_INVALID_ARG: 'InvalidRequest',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'ResponseTooLarge',
  UND_ERR_HEADERS_OVERFLOW: 'MalformedResponse',
  ECONNRESET: 'ConnectionCut',
  EPIPE: 'ConnectionCut',
  ERR_STREAM_PREMATURE_CLOSE: 'ConnectionCut',
  ERR_HTTP2_STREAM_ERROR: 'ConnectionCut',
  ERR_HTTP2_SESSION_ERROR: 'ConnectionCut',
  ERR_HTTP2_STREAM_CANCEL: 'ConnectionCut',
  ERR_HTTP2_GOAWAY_SESSION: 'ConnectionCut',
  ERR_HTTP2_INVALID_SESSION: 'ConnectionCut',
  Z_DATA_ERROR: 'MalformedResponse',
  Z_BUF_ERROR: 'ConnectionCut',
};

const MEANING: Readonly<Record<TransportReason, string>> = {
  NameNotResolved: 'the host name does not resolve; check the server address and DNS',
  ConnectionRefused: 'the connection was refused; check that the API server runs and listens at this address',
  ConnectionFailed: 'the host cannot be reached; check the network between the operator and the API server',
  ConnectTimeout: 'no connection within the connect timeout; check the address, firewalls and the API server',
  ConnectionCut: 'the connection was cut before the answer was complete',
  TlsFailed: 'TLS failed; check certificate-authority-data, tls-server-name and the server certificate',
  HeadersTimeout: 'the API server accepted the request and did not answer in time',
  RequestTimeout: 'the answer was not complete in time',
  RedirectRefused:
    'the server answered with a redirect, which is never followed because credentials would travel along',
  ResponseTooLarge: 'the answer is larger than the limit',
  MalformedResponse: 'the answer is not what an API server sends',
  CredentialUnavailable: 'the credential could not be obtained',
  ConnectionClosed: 'this connection was closed by us',
  InvalidRequest: 'the request cannot be sent as it is',
};

/** The typed form of whatever a socket, TLS, HTTP or gzip layer threw. `asked` names request and server. */
export function toTransportError(asked: string, thrown: unknown): KubeError {
  if (isKubeError(thrown)) return thrown;
  const code = codeOf(thrown);
  // The parser's error carries the bytes it could not read.
  if (thrown instanceof Error && thrown.name === 'HTTPParserError') {
    return transportError(asked, 'MalformedResponse', { found: 'no HTTP' });
  }
  return transportError(asked, reasonOfCode(code), { found: foundIn(thrown, code), cause: thrown });
}

export function transportError(
  asked: string,
  reason: TransportReason,
  more: { readonly found?: string; readonly cause?: unknown } = {},
): KubeError {
  const found = more.found === undefined || more.found === '' ? '' : ` (${redacted(more.found)})`;
  return new KubeError({
    code: 0,
    reason,
    message: `${asked}: ${MEANING[reason]}${found}`,
    retry: reason === 'InvalidRequest' ? 'never' : 'backoff',
    cause: more.cause,
  });
}

function reasonOfCode(code: string): TransportReason {
  if (isTlsCode(code)) return 'TlsFailed';
  return REASON_BY_CODE[code] ?? 'ConnectionFailed';
}

function isTlsCode(code: string): boolean {
  return /^(ERR_SSL|ERR_TLS|ERR_OSSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|CRL_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|EPROTO)/.test(
    code,
  );
}

/** Failed attempts on several addresses come as one AggregateError; the outermost code wins, then that of a cause. */
function codeOf(thrown: unknown): string {
  for (let error = thrown, depth = 0; typeof error === 'object' && error !== null && depth < 5; depth++) {
    const code = (error as { code?: unknown }).code;
    if (typeof code === 'string' && code !== '') return code;
    const inner: unknown =
      (error as { errors?: readonly unknown[] }).errors?.[0] ?? (error as { cause?: unknown }).cause;
    error = inner;
  }
  return '';
}

function foundIn(thrown: unknown, code: string): string {
  const message = thrown instanceof Error && thrown.message !== '' && isTlsCode(code) ? thrown.message : '';
  return [code, message].filter((part) => part !== '').join(': ');
}
