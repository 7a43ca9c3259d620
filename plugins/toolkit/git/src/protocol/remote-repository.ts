import { gitError } from '../errors.js';
import { MalformedData } from '../objects/delta.js';
import { excerpt } from '../transport/excerpt.js';
import type { GitService, Transport, TransportAnswer } from '../transport/transport.js';
import {
  ForeignObjectFormat,
  readAdvertisement,
  RemoteSaidError,
  type Advertisement,
  type RemoteRefs,
} from './advertisement.js';
import type { Capabilities } from './capabilities.js';
import { packOfFetch } from './fetch-answer.js';
import { fetchRequestV0, fetchRequestV2, type FetchWish } from './fetch-request.js';
import { lsRefsRequest, readLsRefs } from './ls-refs.js';
import { PacketReader } from './pkt-line.js';
import { classifyPush, type PushVerdict } from './push-classification.js';
import { pushCommand, type RefUpdate } from './push-request.js';
import { readFault } from './read-fault.js';
import { readPushReport } from './report-status.js';
import { RemoteText } from './sideband.js';

/** A repository with a million refs advertises 60 MB; only what is wanted of it is kept. */
const MAX_REFS_BYTES = 256 * 1024 * 1024;
const MAX_REPORT_BYTES = 1024 * 1024;
const MAX_ERROR_BODY_BYTES = 4096;

/** The server no longer gives what it advertised a moment ago. */
export class NotOurRef extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'NotOurRef';
  }
}

export interface RefsQuestion {
  /** Full names, exact. */
  readonly refs: readonly string[];
  /** Asks for every ref, so that emptiness is known. */
  readonly isWhole?: boolean;
}

export interface PushRefs {
  readonly refs: RemoteRefs;
  readonly capabilities: Capabilities;
}

export interface PushResult {
  readonly verdict: PushVerdict;
  readonly status: number;
  readonly retryAfterMs?: number;
}

export interface RemoteOptions {
  readonly transport: Transport;
  /** Value of the `agent` capability, where one is asked for. */
  readonly agent: string;
  readonly maxPackBytes: number;
}

type Dialect = { readonly version: 2 } | { readonly version: 0; readonly capabilities: Capabilities };

/** Speaks Git with one remote: what are its refs, give me these objects, take these. Every error is a ReverserError, redacted. */
export class RemoteRepository {
  readonly #transport: Transport;
  readonly #agent: string;
  readonly #maxPackBytes: number;
  /** How `git-upload-pack` there wants to be spoken to; unknown at first contact. */
  #dialect: Dialect | undefined;

  constructor({ transport, agent, maxPackBytes }: RemoteOptions) {
    this.#transport = transport;
    this.#agent = agent;
    this.#maxPackBytes = maxPackBytes;
  }

  get displayUrl(): string {
    return this.#transport.displayUrl;
  }

  get agent(): string {
    return this.#agent;
  }

  get canPushFirst(): boolean {
    return this.#transport.canCallFirst;
  }

  /** What the remote wrote, safe to show. */
  show(text: string, length?: number): string {
    return excerpt(this.#transport.redact(text), length);
  }

  async forget(): Promise<void> {
    this.#dialect = undefined;
    await this.#transport.reset();
  }

  /** One request where the server speaks protocol 2 or is known not to. */
  async readRefs(question: RefsQuestion, signal: AbortSignal): Promise<RemoteRefs> {
    const isKnown = this.#dialect !== undefined;
    if (this.#dialect?.version !== 0 && this.#transport.canCallFirst) {
      const refs = await this.#lsRefs(question, signal);
      if (refs !== undefined) {
        this.#dialect = { version: 2 };
        return refs;
      }
    }
    const advertisement = await this.#advertise(
      'git-upload-pack',
      this.#dialect?.version === 0 ? 0 : 2,
      question,
      signal,
    );
    if (advertisement.version === 0) {
      this.#dialect = { version: 0, capabilities: advertisement.capabilities };
      // Only protocol 0 in answer to a question for 2: an empty repository shows no HEAD, whatever it points at.
      return advertisement.refs;
    }
    const refs = await this.#lsRefs(question, signal);
    if (refs === undefined)
      throw gitError(
        'RemoteUnavailable',
        `${this.displayUrl}: its list of refs cannot be read${isKnown ? '' : '; check that spec.url is the clone address'}; it is tried again`,
      );
    this.#dialect = { version: 2 };
    return refs;
  }

  /**
   * The pack of a shallow fetch, in pieces.
   *
   * @throws NotOurRef when the refs have to be read anew; MalformedData when the answer makes no sense
   */
  async *fetchPack(wish: FetchWish, signal: AbortSignal): AsyncGenerator<Buffer> {
    const dialect = this.#dialect ?? { version: 2 as const };
    const body = dialect.version === 2 ? fetchRequestV2(wish) : fetchRequestV0(wish, dialect.capabilities, this.#agent);
    const answer = await this.#call('git-upload-pack', dialect.version, [body], signal);
    const text = new RemoteText();
    try {
      const packets = await this.#packets(answer, 'git-upload-pack', 'result', this.#maxPackBytes);
      try {
        yield* packOfFetch(packets, dialect.version, text);
        await packets.drain();
      } finally {
        await packets.close();
      }
    } catch (error) {
      if (error instanceof RemoteSaidError && /not our ref|no such remote ref/i.test(error.message))
        throw new NotOurRef(this.show(error.message));
      throw this.#translated(error, text.text);
    }
  }

  /** The advertisement a push begins with. */
  async readPushRefs(question: RefsQuestion, signal: AbortSignal): Promise<PushRefs> {
    const advertisement = await this.#advertise('git-receive-pack', 0, question, signal);
    if (advertisement.version !== 0)
      throw gitError('RemoteUnavailable', `${this.displayUrl}: answers a push with an unknown protocol version`);
    return advertisement;
  }

  /**
   * Sends one ref update. The verdict says what the answer means, as far as the answer tells.
   *
   * @throws ReverserError of the transport; `details.sent` is false when the remote cannot have seen the push
   */
  async push(
    update: RefUpdate,
    pack: Uint8Array,
    capabilities: readonly string[],
    signal: AbortSignal,
  ): Promise<PushResult> {
    const answer = await this.#call('git-receive-pack', 0, [pushCommand(update, capabilities), pack], signal);
    const about = {
      status: answer.status,
      ...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
    };
    const wasReportRequested = capabilities.includes('report-status');
    const common = { status: answer.status, contentType: answer.contentType, ref: update.ref, wasReportRequested };
    if (answer.status !== 200)
      return { ...about, verdict: classifyPush({ ...common, body: this.show(await beginning(answer.body)) }) };
    const packets = new PacketReader(answer.body, MAX_REPORT_BYTES);
    const report = await readPushReport(packets, capabilities.includes('side-band-64k')).finally(() => packets.close());
    return { ...about, verdict: classifyPush({ ...common, body: '', report }) };
  }

  /** `undefined` when this is no answer to the question: the server may not know protocol 2. */
  async #lsRefs(question: RefsQuestion, signal: AbortSignal): Promise<RemoteRefs | undefined> {
    const isWhole = question.isWhole === true;
    const request = lsRefsRequest(isWhole ? [] : ['HEAD', ...question.refs]);
    const answer = await this.#transport.call('git-upload-pack', 2, [request], signal);
    const isFinal = [401, 403, 429, 503].includes(answer.status);
    if (answer.status !== 200 && !isFinal) {
      await beginning(answer.body);
      return undefined;
    }
    const wanted = new Set(question.refs);
    try {
      const packets = await this.#packets(answer, 'git-upload-pack', 'result', MAX_REFS_BYTES);
      return await whole(
        packets,
        readLsRefs(packets, (ref) => wanted.has(ref), isWhole),
      );
    } catch (error) {
      if (error instanceof MalformedData || error instanceof RemoteSaidError || error instanceof NotGit)
        return undefined;
      throw this.#translated(error, '');
    }
  }

  async #advertise(
    service: GitService,
    protocol: 0 | 2,
    question: RefsQuestion,
    signal: AbortSignal,
  ): Promise<Advertisement> {
    const wanted = new Set(question.refs);
    const answer = await this.#transport.advertise(service, protocol, signal);
    try {
      const packets = await this.#packets(answer, service, 'advertisement', MAX_REFS_BYTES);
      return await whole(
        packets,
        readAdvertisement(packets, (ref) => wanted.has(ref)),
      );
    } catch (error) {
      if (error instanceof MalformedData)
        throw gitError(
          'RemoteUnavailable',
          `${this.displayUrl}: its list of refs cannot be read: ${error.message}; it is tried again`,
        );
      throw this.#translated(error, '');
    }
  }

  /** A call, repeated once on a new address when the repository was renamed under us. */
  async #call(
    service: GitService,
    protocol: 0 | 2,
    body: readonly Uint8Array[],
    signal: AbortSignal,
  ): Promise<TransportAnswer> {
    const answer = await this.#transport.call(service, protocol, body, signal);
    if (answer.status < 300 || answer.status > 399) return answer;
    await beginning(answer.body);
    const moved = await this.#transport.advertise(service, protocol, signal);
    await beginning(moved.body);
    return this.#transport.call(service, protocol, body, signal);
  }

  async #packets(
    answer: TransportAnswer,
    service: GitService,
    what: 'advertisement' | 'result',
    maxBytes: number,
  ): Promise<PacketReader> {
    if (answer.status !== 200) {
      const body = this.show(await beginning(answer.body));
      throw readFault(
        {
          service,
          status: answer.status,
          body,
          ...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
        },
        this.displayUrl,
      );
    }
    const expected = `application/x-${service}-${what}`;
    if (answer.contentType !== '' && answer.contentType.split(';', 1)[0]?.trim().toLowerCase() !== expected) {
      await beginning(answer.body);
      throw new NotGit(answer.contentType);
    }
    return new PacketReader(answer.body, maxBytes);
  }

  #translated(error: unknown, said: string): unknown {
    if (error instanceof ForeignObjectFormat) {
      return gitError(
        'UnsupportedObjectFormat',
        `${this.displayUrl}: its objects are ${error.format}; only sha1 repositories are supported, so use one created without --object-format`,
        { format: error.format },
      );
    }
    if (error instanceof RemoteSaidError)
      return gitError(
        'RemoteUnavailable',
        `${this.displayUrl}: the remote said: ${this.show(error.message)}; it is tried again`,
      );
    if (error instanceof NotGit) {
      return gitError(
        'RepositoryNotFound',
        `${this.displayUrl}: answers with ${excerpt(error.contentType, 80)}, which is no Git repository; check that spec.url is the clone address`,
      );
    }
    if (error instanceof MalformedData && said !== '')
      return new MalformedData(`${error.message}; the remote said: ${this.show(said)}`);
    return error;
  }
}

class NotGit extends Error {
  readonly contentType: string;

  constructor(contentType: string) {
    super(contentType);
    this.name = 'NotGit';
    this.contentType = contentType;
  }
}

/** Whatever becomes of the reading, the answer is read to its end or ended. */
async function whole<T>(packets: PacketReader, reading: Promise<T>): Promise<T> {
  try {
    const result = await reading;
    await packets.drain();
    return result;
  } finally {
    await packets.close();
  }
}

/** The first bytes of an answer, which is then ended. */
async function beginning(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    parts.push(part);
    length += part.byteLength;
    if (length >= MAX_ERROR_BODY_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, MAX_ERROR_BODY_BYTES).toString('utf8');
}
