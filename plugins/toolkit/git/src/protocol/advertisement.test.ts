import { inPieces, readAnswer, readIndex } from '../recordings.fixture.js';
import { ForeignObjectFormat, readAdvertisement } from './advertisement.js';
import { readLsRefs } from './ls-refs.js';
import { FLUSH, PacketReader, pkt } from './pkt-line.js';

interface Row {
  readonly file: string;
  readonly service: string;
  readonly requested: string;
  readonly state: string;
}
const MAIN = '99e3caef4470c52326d6c4d1ce6ac05d2b9b4c0a';
const all = (): boolean => true;
const read = (body: Buffer, size = 11): PacketReader => new PacketReader(inPieces(body, size), 1_000_000);

describe('readAdvertisement on recorded answers', () => {
  const rows = readIndex<Row>('adv').filter(({ state }) => state === 'empty' || state === 'two-branches-one-tag');

  it.each(rows)('$file', async ({ file, service, requested, state }) => {
    const advertisement = await readAdvertisement(read(readAnswer(file).body), all);

    // Only upload-pack speaks version 2; receive-pack stays at 0 and drops its service packet when asked.
    if (service === 'git-upload-pack' && requested === 'version=2') {
      expect(advertisement.version).toBe(2);
      expect(advertisement.capabilities.has('ls-refs')).toBe(true);
      return;
    }
    if (advertisement.version !== 0) throw new Error('expected version 0');
    expect(advertisement.refs.isEmpty).toBe(state === 'empty');
    if (service === 'git-receive-pack') expect(advertisement.capabilities.has('report-status')).toBe(true);
    if (state === 'empty') return;
    expect([...advertisement.refs.oidByRef.keys()].filter((ref) => ref.startsWith('refs/heads/'))).toHaveLength(2);
    expect(advertisement.refs.head).toEqual(
      service === 'git-upload-pack'
        ? { kind: 'branch', ref: 'refs/heads/main', oid: expect.stringMatching(/^[0-9a-f]{40}$/) as unknown }
        : { kind: 'unknown' },
    );
  });
});

describe('readAdvertisement', () => {
  const body = (...lines: string[]): Buffer => Buffer.concat([...lines.map((line) => pkt(line)), FLUSH]);

  it('4.11: accepts a version 1 packet in front', async () => {
    const advertisement = await readAdvertisement(
      read(body('version 1\n', `${MAIN} refs/heads/main\0report-status\n`)),
      all,
    );

    expect(advertisement).toMatchObject({ version: 0, refs: { oidByRef: new Map([['refs/heads/main', MAIN]]) } });
  });

  it('4.9: refuses another object format before it reads an oid', async () => {
    const lines = body(`${'a'.repeat(64)} refs/heads/main\0report-status object-format=sha256\n`);

    await expect(readAdvertisement(read(lines), all)).rejects.toThrow(ForeignObjectFormat);
  });

  it('keeps only the refs it was asked for', async () => {
    const lines = body(
      `${MAIN} refs/heads/a\0x\n`,
      `${MAIN} refs/heads/b\n`,
      `${MAIN} refs/tags/b\n`,
      `${MAIN} refs/tags/b^{}\n`,
    );

    const advertisement = await readAdvertisement(read(lines), (ref) => ref === 'refs/heads/b');

    expect(advertisement).toMatchObject({ refs: { oidByRef: new Map([['refs/heads/b', MAIN]]), isEmpty: false } });
  });

  it.each([
    {
      why: 'one branch is where HEAD is',
      lines: [`${MAIN} HEAD\0x\n`, `${MAIN} refs/heads/trunk\n`, `${'1'.repeat(40)} refs/heads/x\n`],
      head: { kind: 'branch', ref: 'refs/heads/trunk', oid: MAIN },
    },
    {
      why: 'two are, so it cannot be told',
      lines: [`${MAIN} HEAD\0x\n`, `${MAIN} refs/heads/trunk\n`, `${MAIN} refs/heads/x\n`],
      head: { kind: 'detached' },
    },
    { why: 'no HEAD at all', lines: [`${MAIN} refs/heads/trunk\0x\n`], head: { kind: 'unknown' } },
  ])('guesses the default branch of a server without symref only when $why', async ({ lines, head }) => {
    expect(await readAdvertisement(read(body(...lines)), all)).toMatchObject({ refs: { head } });
  });

  it.each([
    { why: 'no packets', bytes: Buffer.from('<!DOCTYPE html>') },
    { why: 'a cut packet', bytes: Buffer.from('00ff99e3') },
    { why: 'no refs', bytes: body('hello\n') },
  ])('refuses $why', async ({ bytes }) => {
    await expect(readAdvertisement(read(bytes), all)).rejects.toThrow(/answer/);
  });
});

describe('readLsRefs on recorded answers', () => {
  it.each(['git-2.39', 'git-2.55', 'gitea-1.26'])('%s', async (server) => {
    const filled = await readLsRefs(read(readAnswer(`fetch/${server}-v2-ls-refs.http`).body), all, false);
    const empty = await readLsRefs(read(readAnswer(`fetch/${server}-v2-ls-refs-empty.http`).body), all, true);

    expect(filled.head).toEqual({
      kind: 'branch',
      ref: 'refs/heads/main',
      oid: filled.oidByRef.get('refs/heads/main'),
    });
    expect(filled.isEmpty).toBe(false);
    expect(empty).toEqual({ oidByRef: new Map(), head: { kind: 'unborn', ref: 'refs/heads/main' }, isEmpty: true });
  });

  it('does not take an empty body for an empty repository', async () => {
    await expect(readLsRefs(read(Buffer.alloc(0)), all, true)).rejects.toThrow('the answer is empty');
  });
});
