import type { ReverserError } from '@gitops-reverser/kernel-api';
import { isReverserError } from '@gitops-reverser/kernel-api';
import { gitError } from '../errors.js';
import { excerpt } from './excerpt.js';

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** Errors after which the request cannot have been processed. */
const NEVER_SENT = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const TLS_CODES =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY|DECRYPT|DECODE)|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_EXCEEDED|EPROTO$)/;

const EXPLANATION_BY_CODE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name does not resolve; check spec.url and the DNS of the cluster',
  EAI_AGAIN: 'its host name could not be resolved for now',
  ECONNREFUSED: 'nothing listens there (connection refused)',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within 10 s',
  UND_ERR_HEADERS_TIMEOUT: 'no answer within 30 s',
  UND_ERR_BODY_TIMEOUT: 'nothing more came for 60 s',
};

/** Translates what undici and the socket throw. The original never travels on: it may hold headers. */
export function faultOf(error: unknown, displayUrl: string, redact: (text: string) => string): ReverserError {
  if (isReverserError(error)) return error;
  const codes = codesOf(error);
  const tls = codes.find((code) => TLS_CODES.test(code));
  const text = error instanceof Error ? error.message : String(error);
  if (tls !== undefined) {
    return gitError(
      'TLSVerificationFailed',
      redact(
        `${displayUrl}: its certificate is not trusted (${tls}: ${excerpt(text, 160)}); put the CA that signed it in spec.tls.caRef`,
      ),
      { code: tls, sent: false },
    );
  }
  const code = codes.find((candidate) => candidate in EXPLANATION_BY_CODE) ?? codes[0] ?? 'UNKNOWN';
  const explanation = EXPLANATION_BY_CODE[code] ?? excerpt(text, 160);
  return gitError('RemoteUnavailable', redact(`${displayUrl}: ${explanation} (${code}); it is tried again`), {
    code,
    sent: !NEVER_SENT.has(code),
  });
}

function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at: unknown = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth += 1) {
    const { code, cause, errors } = at as {
      readonly code?: unknown;
      readonly cause?: unknown;
      readonly errors?: readonly unknown[];
    };
    if (typeof code === 'string') codes.push(code);
    at = cause ?? errors?.[0];
  }
  return codes;
}
