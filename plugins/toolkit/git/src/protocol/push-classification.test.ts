import { inPieces, readAnswer, readIndex } from '../recordings.fixture.js';
import { ZERO_OID } from '../objects/oid.js';
import { classifyPush, settlePush, type PushAnswer, type PushClass } from './push-classification.js';
import { PacketReader } from './pkt-line.js';
import { readPushReport, type PushReport } from './report-status.js';

interface Row {
  readonly file: string;
  readonly server: string;
  readonly case: string;
  readonly command: { readonly old: string; readonly new: string; readonly ref: string };
  readonly capabilities: string;
  readonly refBefore: string | null;
  readonly refAfter: string | null;
  readonly class: PushClass;
}

describe('classifyPush on recorded answers', () => {
  it.each(readIndex<Row>('push'))('$server $case is $class', async (row) => {
    const { status, contentType, body } = readAnswer(row.file);
    const capabilities = row.capabilities.split(' ');
    const report =
      status === 200
        ? await readPushReport(new PacketReader(inPieces(body, 7), 1_000_000), capabilities.includes('side-band-64k'))
        : undefined;
    const wasReportRequested = capabilities.some((name) => name.startsWith('report-status'));

    const verdict = classifyPush({
      status,
      contentType,
      body: status === 200 ? '' : body.toString(),
      wasReportRequested,
      ref: row.command.ref,
      ...(report === undefined ? {} : { report }),
    });
    const settled = settlePush(verdict, (row.refAfter ?? ZERO_OID) === row.command.old ? 'still-old' : 'elsewhere');

    expect(settled).toBe(row.class);
  });
});

describe('classifyPush beyond the recordings', () => {
  const ng = (reason: string, text = ''): PushAnswer => ({
    status: 200,
    contentType: 'application/x-git-receive-pack-result',
    body: '',
    wasReportRequested: true,
    ref: 'refs/heads/main',
    report: reportOf({ result: reason, text }),
  });
  const http = (status: number, body = ''): PushAnswer => ({
    status,
    contentType: 'text/plain',
    body,
    wasReportRequested: true,
    ref: 'refs/heads/main',
  });

  it.each<{ why: string; answer: PushAnswer; tip: 'still-old' | 'elsewhere'; expect: PushClass }>([
    {
      why: 'GitHub protects the branch',
      answer: ng('protected branch hook declined', 'error: GH006: Protected branch update failed for refs/heads/main.'),
      tip: 'still-old',
      expect: 'policy',
    },
    {
      why: 'GitHub asks for a pull request',
      answer: ng(
        'push declined due to repository rule violations',
        'error: GH013: Changes must be made through a pull request.',
      ),
      tip: 'still-old',
      expect: 'policy',
    },
    {
      why: 'GitHub found a secret in it',
      answer: ng(
        'push declined due to repository rule violations',
        'error: GH013: Repository rule violations\n- Push cannot contain secrets (push protection)',
      ),
      tip: 'still-old',
      expect: 'content',
    },
    {
      why: 'GitHub limits a file to 100 MB',
      answer: ng(
        'pre-receive hook declined',
        "error: GH001: Large files detected. this exceeds GitHub's file size limit of 100.00 MB",
      ),
      tip: 'still-old',
      expect: 'content',
    },
    {
      why: 'Azure DevOps policy',
      answer: ng('TF402455: Pushes to this branch are not permitted; you must use a pull request'),
      tip: 'still-old',
      expect: 'policy',
    },
    { why: 'Gerrit', answer: ng('prohibited by Gerrit: not permitted: update'), tip: 'still-old', expect: 'policy' },
    {
      why: 'a reader of a Gitea repository',
      answer: ng('pre-receive hook declined', 'User permission denied for writing.'),
      tip: 'still-old',
      expect: 'permission',
    },
    { why: 'FC-PSH-2: the ref tells, not the text', answer: ng('fetch first'), tip: 'elsewhere', expect: 'moved' },
    {
      why: 'FC-PSH-2: the same text, tip unmoved, is no move',
      answer: ng('stale info'),
      tip: 'still-old',
      expect: 'transient',
    },
    {
      why: 'FC-PSH-2: words nobody has seen yet, tip moved',
      answer: ng('computer says no'),
      tip: 'elsewhere',
      expect: 'moved',
    },
    {
      why: 'words nobody has seen yet, tip unmoved',
      answer: ng('computer says no'),
      tip: 'still-old',
      expect: 'content',
    },
    {
      why: 'a shallow boundary the server does not take',
      answer: ng('shallow update not allowed'),
      tip: 'still-old',
      expect: 'base-lost',
    },
    {
      why: 'missing objects because the branch was replaced',
      answer: ng('missing necessary objects'),
      tip: 'elsewhere',
      expect: 'moved',
    },
    { why: 'Azure DevOps shows its sign-in page', answer: http(203, '<html>'), tip: 'still-old', expect: 'credential' },
    { why: 'too large for the host', answer: http(413), tip: 'still-old', expect: 'too-large' },
    { why: 'rate limited', answer: http(429), tip: 'still-old', expect: 'transient' },
    {
      why: 'secondary rate limit of GitHub',
      answer: http(403, 'You have exceeded a secondary rate limit'),
      tip: 'still-old',
      expect: 'transient',
    },
    { why: 'a broken gateway', answer: http(502), tip: 'still-old', expect: 'transient' },
    {
      why: 'a web page in place of an answer',
      answer: { ...http(200), contentType: 'text/html; charset=utf-8' },
      tip: 'still-old',
      expect: 'protocol',
    },
    {
      why: 'FC-PSH-3: `unpack ok` without a word on the ref is no success',
      answer: { ...ng(''), report: reportOf({}) },
      tip: 'still-old',
      expect: 'unknown',
    },
    {
      why: 'FC-PSH-3: `ok` for another ref is no success',
      answer: { ...ng(''), report: { ...reportOf({}), resultByRef: new Map([['refs/heads/other', 'ok']]) } },
      tip: 'still-old',
      expect: 'unknown',
    },
  ])('$why: $expect', ({ answer, tip, expect: wanted }) => {
    expect(settlePush(classifyPush(answer), tip)).toBe(wanted);
  });

  it("keeps the host's own words for the message, without empty error lines", () => {
    const verdict = classifyPush(
      ng('pre-receive hook declined', '\nerror:\nerror: branch main is protected from changing file a.txt\nerror:\n'),
    );

    expect(verdict.said).toBe('pre-receive hook declined; branch main is protected from changing file a.txt');
  });

  it('believes a report whose connection is cut behind it', async () => {
    async function* cut(): AsyncGenerator<Buffer> {
      await Promise.resolve();
      yield Buffer.from('002e\x01000eunpack ok\n0017ok refs/heads/main\n0000');
      throw new Error('cut');
    }

    const report = await readPushReport(new PacketReader(cut(), 1000), true);

    expect([...report.resultByRef]).toEqual([['refs/heads/main', 'ok']]);
    expect(report.isWhole).toBe(false);
  });
});

function reportOf({ result, text = '' }: { readonly result?: string; readonly text?: string }): PushReport {
  return {
    unpack: 'ok',
    resultByRef: new Map(result === undefined ? [] : [['refs/heads/main', result]]),
    text,
    isEmpty: false,
    isWhole: true,
  };
}
