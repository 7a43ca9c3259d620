/** What a request of the smart HTTP protocol is for. */
export type GitStep = 'fetch-advertisement' | 'push-advertisement' | 'fetch' | 'push' | 'other';

/**
 * Where a connection is cut or held:
 * - `request`: the head of the request has arrived;
 * - `body`: the whole body has arrived (only cut);
 * - `answer`: git has finished, nothing was answered;
 * - `answer-headers`, `answer-body`: that much was sent (only cut).
 */
export type Fault =
  | { readonly kind: 'cut'; readonly at: 'request' }
  | {
      readonly kind: 'cut';
      readonly at: 'body';
      /** `stops`: git never sees the body; `goes-on`: git handles it without the client, `goOnAfterMs` later. */
      readonly server: 'stops' | 'goes-on';
      readonly goOnAfterMs?: number;
    }
  | { readonly kind: 'cut'; readonly at: 'answer' | 'answer-headers' }
  | { readonly kind: 'cut'; readonly at: 'answer-body'; readonly afterBytes: number }
  /** Waits until the test releases it; never released, it hangs until the client gives up or the host stops. */
  | { readonly kind: 'hold'; readonly at: 'request' | 'answer' }
  | { readonly kind: 'delay'; readonly at: 'request' | 'answer'; readonly ms: number }
  /** Answers in place of git. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Reads see the refs as they were when the fault was injected; pushes reach the real repository. */
  | { readonly kind: 'lag' }
  /** 400 to an upload-pack request (protocol v0) that does not ask for `multi_ack` or `multi_ack_detailed`. */
  | { readonly kind: 'require-multi-ack' }
  /** 400 to a request that names the `agent` capability. */
  | { readonly kind: 'refuse-agent' }
  /** 411 to a body without `Content-Length`. */
  | { readonly kind: 'refuse-chunked' };

export interface FaultOptions {
  readonly repository?: string;
  readonly on?: GitStep | readonly GitStep[];
  /** How many matching requests pass before the first one is hit. */
  readonly skip?: number;
  /** How many requests are hit; default 1, and every one for `lag` and the refusals of requests. */
  readonly times?: number;
}

export interface FaultHandle {
  readonly fault: Fault;
  /** How many requests were hit so far. */
  readonly hits: number;
  /** Settles when the first request is hit; with `at: 'answer'`, when git has finished. */
  readonly reached: Promise<void>;
  /** Lets held requests go on, and those to come. */
  release(): void;
  /** No further request is hit; held ones go on. */
  remove(): void;
}

const lasting: ReadonlySet<Fault['kind']> = new Set(['lag', 'require-multi-ack', 'refuse-agent', 'refuse-chunked']);

export class ActiveFault implements FaultHandle {
  readonly fault: Fault;
  readonly reached: Promise<void>;
  /** For `lag`: the frozen copy that answers reads. */
  readonly frozenDir: string | undefined;
  hits = 0;
  readonly #steps: ReadonlySet<GitStep> | undefined;
  readonly #repository: string | undefined;
  readonly #released: Promise<void>;
  #skip: number;
  #left: number;
  #reach: () => void = () => undefined;
  #release: () => void = () => undefined;

  constructor(fault: Fault, options: FaultOptions, frozenDir?: string) {
    this.fault = fault;
    this.frozenDir = frozenDir;
    this.#repository = options.repository;
    this.#steps =
      options.on === undefined ? undefined : new Set(typeof options.on === 'string' ? [options.on] : options.on);
    this.#skip = options.skip ?? 0;
    this.#left = options.times ?? (lasting.has(fault.kind) ? Infinity : 1);
    this.reached = new Promise((resolve) => (this.#reach = resolve));
    this.#released = new Promise((resolve) => (this.#release = resolve));
  }

  /** Claims this request; counts `skip` and `times` down. */
  claims(repository: string, step: GitStep): boolean {
    if (this.#left <= 0) return false;
    if (this.#repository !== undefined && this.#repository !== repository) return false;
    if (this.#steps !== undefined && !this.#steps.has(step)) return false;
    if (this.#skip > 0) {
      this.#skip -= 1;
      return false;
    }
    this.#left -= 1;
    return true;
  }

  hit(): void {
    this.hits += 1;
    this.#reach();
  }

  /** Settles when held requests may go on. */
  held(): Promise<void> {
    return this.#released;
  }

  release(): void {
    this.#release();
  }

  remove(): void {
    this.#left = 0;
    this.#release();
  }
}

/** The name of a fault in the request log. */
export const faultName = (fault: Fault): string => ('at' in fault ? `${fault.kind}:${fault.at}` : fault.kind);

/**
 * What is wrong with a whole request body in the eyes of a strict host.
 *
 * @param body already inflated
 */
export function refusalOf(
  fault: Fault,
  step: GitStep,
  gitProtocol: string | undefined,
  isChunked: boolean,
  body: Buffer,
): { status: number; body: string } | undefined {
  switch (fault.kind) {
    case 'require-multi-ack': {
      const isV2 = gitProtocol?.includes('version=2') === true;
      if (step !== 'fetch' || isV2) return undefined;
      const firstLine = body.toString('latin1', 4, Number.parseInt(body.toString('latin1', 0, 4), 16) || 4);
      return /\bmulti_ack(_detailed)?\b/.test(firstLine)
        ? undefined
        : { status: 400, body: 'TF401041: The request must include the multi_ack capability.' };
    }
    case 'refuse-agent':
      return /[\0 ]agent=|^.{4}agent=/m.test(body.toString('latin1', 0, 4_096))
        ? { status: 400, body: 'unknown capability: agent' }
        : undefined;
    case 'refuse-chunked':
      return isChunked ? { status: 411, body: 'Length Required' } : undefined;
    case 'cut':
    case 'hold':
    case 'delay':
    case 'answer':
    case 'lag':
      return undefined;
  }
}
