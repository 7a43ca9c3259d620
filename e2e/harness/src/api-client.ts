import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface ApiClientOptions {
  readonly url: string;
  readonly token: string;
  /** PEM to trust; without it the system's roots. */
  readonly ca?: string;
  /** Connections kept open at most. */
  readonly connections?: number;
}

export interface ApiRequest {
  readonly method?: string;
  /** Sent as JSON; a string as it is. */
  readonly body?: unknown;
  readonly contentType?: string;
}

/** A refusal of the API server, in its own words. */
export class ApiRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A Kubernetes API over kept-alive connections, as one user: what kubectl sends, without kubectl. */
export class ApiClient implements Disposable {
  readonly #options: ApiClientOptions;
  readonly #agent: HttpAgent;
  readonly #request: typeof httpsRequest;

  constructor(options: ApiClientOptions) {
    const isTls = options.url.startsWith('https:');
    const pool = { keepAlive: true, maxSockets: options.connections ?? 8 };
    this.#options = options;
    this.#agent = isTls ? new HttpsAgent(pool) : new HttpAgent(pool);
    this.#request = isTls ? httpsRequest : httpRequest;
  }

  /**
   * One request; gives the answer's JSON.
   *
   * @throws ApiRefusal when the answer is not 2xx
   */
  async request<T = unknown>(path: string, options: ApiRequest = {}): Promise<T> {
    const { body, method = body === undefined ? 'GET' : 'POST', contentType = 'application/json' } = options;
    const { status, text } = await this.#send(
      path,
      method,
      body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      contentType,
    );
    if (status >= 200 && status < 300) return (text === '' ? undefined : JSON.parse(text)) as T;
    throw new ApiRefusal(status, `${method} ${path} was answered ${status}: ${statusMessage(text)}`);
  }

  /** Server-side apply of one object given as YAML or JSON text. */
  apply(path: string, manifest: string): Promise<unknown> {
    return this.request(`${path}?fieldManager=e2e-harness&force=true`, {
      method: 'PATCH',
      body: manifest,
      contentType: 'application/apply-patch+yaml',
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #send(
    path: string,
    method: string,
    body: string | undefined,
    contentType: string,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { url, token, ca } = this.#options;
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) }),
    };
    return new Promise((resolve, reject) => {
      const request = this.#request(
        `${url}${path}`,
        { method, headers, agent: this.#agent, timeout: 60_000, ...(ca === undefined ? {} : { ca }) },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          );
          response.on('error', reject);
        },
      );
      request.on('timeout', () => request.destroy(new Error(`${method} ${path} was not answered within 60 s`)));
      request.on('error', reject).end(body);
    });
  }
}

/** The message of a Status object; the plain text of anything else. */
function statusMessage(text: string): string {
  try {
    const status = JSON.parse(text) as { readonly message?: unknown };
    if (typeof status.message === 'string') return status.message;
  } catch {
    // Not a Status: proxies and panics answer plain text.
  }
  return text.slice(0, 500);
}
