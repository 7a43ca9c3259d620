import type { GitReason } from '../errors.js';
import type { PushReport } from './report-status.js';

/** Chapter 40, 4.6. */
export type PushClass =
  | 'accepted'
  /** No final word: it may have landed, or may land yet. */
  | 'unknown'
  | 'moved'
  | 'transient'
  | 'credential'
  | 'permission'
  | 'missing'
  | 'policy'
  | 'content'
  /** 413: the same commits may pass one at a time. */
  | 'too-large'
  | 'protocol'
  | 'base-lost';

export interface PushAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Of an answer that is not 200: its beginning. */
  readonly body: string;
  /** Of an answer that is 200. */
  readonly report?: PushReport;
  readonly wasReportRequested: boolean;
  readonly ref: string;
}

/** Where the ref is now, read after the answer. */
export type TipNow = 'still-old' | 'elsewhere';

export type PushVerdict =
  | { readonly kind: 'settled'; readonly class: PushClass; readonly said: string }
  /** Only the ref itself tells: read it, then ask `settle`. */
  | { readonly kind: 'ask'; readonly ifStillOld: PushClass; readonly ifElsewhere: PushClass; readonly said: string };

export const REASON_BY_CLASS: Readonly<Record<Exclude<PushClass, 'accepted' | 'moved'>, GitReason>> = {
  unknown: 'RemoteUnavailable',
  transient: 'RemoteUnavailable',
  credential: 'AuthenticationFailed',
  permission: 'PushForbidden',
  missing: 'RepositoryNotFound',
  policy: 'ProtectedBranch',
  content: 'PushRejected',
  'too-large': 'PushRejected',
  protocol: 'RemoteRejectedPack',
  'base-lost': 'RemoteRejectedPack',
};

interface Row {
  readonly where: 'ng' | 'text' | 'either';
  readonly pattern: RegExp;
  readonly class: PushClass;
  /** Class when the ref is found to be somewhere else than our `old`. */
  readonly ifElsewhere?: PushClass;
}

/** What an `ng` means, first match wins. `text` is what the remote printed beside it. */
const NG_ROWS: readonly Row[] = [
  {
    where: 'ng',
    pattern: /missing necessary objects|shallow update not allowed/i,
    class: 'base-lost',
    ifElsewhere: 'moved',
  },
  { where: 'text', pattern: /permission denied for writing/i, class: 'permission' },
  {
    where: 'either',
    pattern: /secret[- ]scanning|push[- ]protection|GH013[\s\S]*secret|GH001|file size limit|exceeds .*(size|limit)/i,
    class: 'content',
  },
  {
    where: 'either',
    pattern:
      /GH006|GH013|must use a pull request|changes must be made through a pull request|TF402455|branch permissions?|protected branch|prohibited by Gerrit/i,
    class: 'policy',
  },
  { where: 'ng', pattern: /hook declined|declined by|prohibited/i, class: 'policy' },
  { where: 'ng', pattern: /refname conflict|invalid new value provided|funny refname/i, class: 'content' },
  { where: 'text', pattern: /exists; cannot create/i, class: 'content' },
  { where: 'ng', pattern: /non-fast-forward/i, class: 'content', ifElsewhere: 'moved' },
  {
    where: 'ng',
    pattern:
      /failed to update ref|incorrect old value provided|reference already exists|reference does not exist|atomic transaction failed|cannot lock ref|fetch first|stale info/i,
    class: 'transient',
    ifElsewhere: 'moved',
  },
  { where: 'ng', pattern: /^/, class: 'content', ifElsewhere: 'moved' },
];

/** What an `unpack` other than `ok` means; the cause is in the text. */
const UNPACK_ROWS: readonly { readonly pattern: RegExp; readonly class: PushClass }[] = [
  { pattern: /pack exceeds maximum allowed size|fsck error/i, class: 'content' },
  { pattern: /^/, class: 'protocol' },
];

/** What an HTTP status means, first match wins; `body` narrows it. */
const STATUS_ROWS: readonly {
  readonly matches: (status: number) => boolean;
  readonly body?: RegExp;
  readonly class: PushClass;
}[] = [
  { matches: (status) => status === 401 || status === 203, class: 'credential' },
  { matches: (status) => status === 403, body: /push to create is not enabled/i, class: 'missing' },
  { matches: (status) => status === 403, body: /rate limit/i, class: 'transient' },
  { matches: (status) => status === 403, class: 'permission' },
  { matches: (status) => status === 404 || status === 410, class: 'missing' },
  { matches: (status) => status === 413, class: 'too-large' },
  { matches: (status) => status === 408 || status === 429 || status >= 500, class: 'transient' },
  { matches: () => true, class: 'protocol' },
];

/** What an answer to a push means. Pure; tested against every recorded answer. */
export function classifyPush(answer: PushAnswer): PushVerdict {
  const { status, report } = answer;
  if (status !== 200) {
    const row = STATUS_ROWS.find(
      ({ matches, body }) => matches(status) && (body === undefined || body.test(answer.body)),
    );
    return settled(row?.class ?? 'protocol', `HTTP ${status}${answer.body === '' ? '' : `: ${answer.body}`}`);
  }
  if (/text\/html/i.test(answer.contentType)) return settled('protocol', 'a web page in place of a Git answer');
  if (report === undefined || (report.isEmpty && answer.wasReportRequested))
    return settled('protocol', 'an empty answer');
  const result = report.resultByRef.get(answer.ref);
  if (report.unpack !== undefined && report.unpack !== 'ok') {
    const said = join(report.unpack, report.text);
    return settled(UNPACK_ROWS.find(({ pattern }) => pattern.test(said))?.class ?? 'protocol', said);
  }
  if (result === undefined || report.unpack === undefined)
    return settled('unknown', join('the answer ends without a report on the branch', report.text));
  if (result === 'ok') return settled('accepted', '');
  const said = join(result, report.text);
  for (const row of NG_ROWS) {
    const isHit =
      (row.where !== 'text' && row.pattern.test(result)) || (row.where !== 'ng' && row.pattern.test(report.text));
    if (!isHit) continue;
    if (row.ifElsewhere === undefined) return settled(row.class, said);
    return { kind: 'ask', ifStillOld: row.class, ifElsewhere: row.ifElsewhere, said };
  }
  return settled('content', said);
}

/** The second half of a verdict that asked. */
export function settlePush(verdict: PushVerdict, tip: TipNow): PushClass {
  if (verdict.kind === 'settled') return verdict.class;
  return tip === 'still-old' ? verdict.ifStillOld : verdict.ifElsewhere;
}

const settled = (kind: PushClass, said: string): PushVerdict => ({ kind: 'settled', class: kind, said });

/** One line: the report's words and the remote's, without the noise of empty `error:` lines. */
function join(reason: string, text: string): string {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^\s*(remote:|error:|fatal:)?\s*/, '').trim())
    .filter((line) => line !== '');
  return [reason, ...lines].join('; ');
}
