export type GitService = 'git-upload-pack' | 'git-receive-pack';

export interface TransportAnswer {
  /** 200 for a transport without statuses: then only the content tells. */
  readonly status: number;
  readonly contentType: string;
  /** From `Retry-After`, at most 15 minutes. */
  readonly retryAfterMs?: number;
  /** Must be read to its end or returned from early. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Carries sessions to one remote. HTTP is one request per call; a transport with channels (SSH) opens one in `advertise` and goes
 * on in it with `call`.
 *
 * Both throw ReverserError RemoteUnavailable, TLSVerificationFailed, HostKeyUntrusted, AuthenticationFailed, InsecureTransport,
 * RepositoryNotFound (a redirect to another host); messages are redacted.
 */
export interface Transport extends AsyncDisposable {
  /** Whether `call` may come first. */
  readonly canCallFirst: boolean;
  /** For messages: without credentials. */
  readonly displayUrl: string;
  /** Starts a session: the credential is read anew and used until the next one. */
  begin(signal: AbortSignal): Promise<void>;
  advertise(service: GitService, protocol: 0 | 2, signal: AbortSignal): Promise<TransportAnswer>;
  /** `body` is sent whole, with its length. */
  call(
    service: GitService,
    protocol: 0 | 2,
    body: readonly Uint8Array[],
    signal: AbortSignal,
  ): Promise<TransportAnswer>;
  /** Removes what this transport's credentials would give away. */
  redact(text: string): string;
  /** Forgets redirects, connections and credentials. */
  reset(): Promise<void>;
}
