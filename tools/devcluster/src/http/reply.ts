import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { gzip } from 'node:zlib';
import { stringifyJson } from '../json.js';
import type { ApiError } from '../status.js';

/** The answer to one request. */
export class Reply {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #onStatus: (status: number) => void;
  readonly #isPretty: boolean;
  readonly #warnings: string[] = [];

  constructor(request: IncomingMessage, response: ServerResponse, onStatus: (status: number) => void, url: URL) {
    this.#request = request;
    this.#response = response;
    this.#onStatus = onStatus;
    const agent = request.headers['user-agent'] ?? '';
    // As upstream: people with curl get indented JSON.
    this.#isPretty =
      url.searchParams.get('pretty') === 'true' ||
      (url.searchParams.get('pretty') === null && /^(curl|Wget|Mozilla\/5\.0)\//.test(agent));
  }

  get response(): ServerResponse {
    return this.#response;
  }

  warn(messages: readonly string[]): void {
    this.#warnings.push(...messages);
  }

  #head(code: number, contentType: string): void {
    this.#onStatus(code);
    const sent = this.#request.headers['audit-id'];
    this.#response.statusCode = code;
    this.#response.setHeader('Audit-Id', typeof sent === 'string' ? sent : randomUUID());
    this.#response.setHeader('Cache-Control', 'no-cache, private');
    this.#response.setHeader('Content-Type', contentType);
    if (this.#warnings.length > 0)
      this.#response.setHeader(
        'Warning',
        this.#warnings.map((text) => `299 - ${JSON.stringify(text.replace(/[^\x20-\x7e]/g, '?'))}`),
      );
  }

  /** @param body an object, or JSON that is already bytes */
  json(code: number, body: object, contentType = 'application/json'): void {
    const bytes =
      Buffer.isBuffer(body) && !this.#isPretty
        ? body
        : Buffer.from(
            stringifyJson(Buffer.isBuffer(body) ? JSON.parse(body.toString()) : body, this.#isPretty ? 2 : 0) + '\n',
          );
    this.#head(code, contentType);
    this.#response.setHeader('Vary', 'Accept-Encoding');
    // 131_072: from there on the API server compresses when asked to.
    const canGzip =
      this.#request.method === 'GET' &&
      bytes.length > 131_072 &&
      /\bgzip\b/.test(String(this.#request.headers['accept-encoding'] ?? ''));
    if (!canGzip) {
      this.#response.setHeader('Content-Length', bytes.length);
      this.#response.end(this.#request.method === 'HEAD' ? undefined : bytes);
      return;
    }
    gzip(bytes, { level: 1 }, (fault, packed) => {
      if (fault !== null) {
        this.#response.destroy(fault);
        return;
      }
      this.#response.setHeader('Content-Encoding', 'gzip');
      this.#response.setHeader('Content-Length', packed.length);
      this.#response.end(packed);
    });
  }

  text(code: number, body: string): void {
    this.#head(code, 'text/plain; charset=utf-8');
    this.#response.end(body);
  }

  refuse(error: ApiError): void {
    if (this.#response.headersSent) {
      this.#response.destroy();
      return;
    }
    if (error.isPlainText) return this.text(error.code, `${error.message}\n`);
    if (error.retryAfterSeconds !== undefined) this.#response.setHeader('Retry-After', error.retryAfterSeconds);
    this.json(error.code, error.body);
  }

  /** The head of a stream that is written to as things happen. */
  stream(contentType: string): ServerResponse {
    this.#head(200, contentType);
    this.#response.flushHeaders();
    return this.#response;
  }
}
