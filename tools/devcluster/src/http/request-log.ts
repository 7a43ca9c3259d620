import type { RequestInfo } from './request-info.js';

/** One request the server has seen. */
export interface RecordedRequest {
  /** Milliseconds since the epoch, of the real clock. */
  readonly atMs: number;
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** The API verb (`list`, `watch`, …), or the method in lower case for paths that are no resource. */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly user: string;
  readonly userAgent: string;
  /** 0 until the answer has begun. */
  readonly status: number;
}

export type RequestFilter = Partial<Omit<RecordedRequest, 'atMs'>>;

// Enough for a bench, small enough to forget.
const limit = 200_000;

/** What was asked, by whom and when. Holds no bodies. */
export class RequestLog {
  #requests: RecordedRequest[] = [];
  #total = 0;

  /** @returns call it with what became known later */
  record(
    method: string,
    url: string,
    info: RequestInfo,
    userAgent: string,
  ): (known: { readonly user?: string; readonly status?: number }) => void {
    const isResource = info.kind === 'resource';
    let entry: RecordedRequest = {
      atMs: Date.now(),
      method,
      url,
      verb: info.verb,
      group: isResource ? info.group : '',
      resource: isResource ? info.resource : '',
      subresource: isResource ? info.subresource : '',
      namespace: isResource ? info.namespace : undefined,
      name: isResource ? info.name : '',
      user: '',
      userAgent,
      status: 0,
    };
    const index = this.#requests.length;
    const requests = this.#requests;
    requests.push(entry);
    this.#total += 1;
    if (requests.length > limit) this.#requests = requests.slice(limit / 2);
    return (known) => {
      entry = { ...entry, ...known };
      if (requests[index] !== undefined) requests[index] = entry;
    };
  }

  /** How many requests ever came in. */
  get total(): number {
    return this.#total;
  }

  list(filter: RequestFilter = {}): readonly RecordedRequest[] {
    const wanted = Object.entries(filter) as [keyof RecordedRequest, unknown][];
    return this.#requests.filter((request) => wanted.every(([key, value]) => request[key] === value));
  }

  count(filter: RequestFilter = {}): number {
    return this.list(filter).length;
  }

  /** How many of each `verb group/resource`, or `verb path`. */
  countsByKind(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const request of this.#requests) {
      const what =
        request.resource === ''
          ? request.url.split('?')[0]
          : `${request.group === '' ? '' : `${request.group}/`}${request.resource}${request.subresource === '' ? '' : `/${request.subresource}`}`;
      const kind = `${request.verb} ${what ?? ''}`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  }

  clear(): void {
    this.#requests = [];
  }
}
