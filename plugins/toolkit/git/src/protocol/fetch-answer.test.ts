import { inPieces, readAnswer, readIndex } from '../recordings.fixture.js';
import { MemoryBytes } from '../objects/pack-bytes.js';
import { indexPack } from '../objects/pack-indexing.js';
import { ObjectStore } from '../objects/object-store.js';
import { packOfFetch } from './fetch-answer.js';
import { PacketReader } from './pkt-line.js';
import { RemoteText } from './sideband.js';

interface Row {
  readonly file: string;
  readonly case: string;
  readonly protocol: 0 | 2;
  readonly request: readonly string[];
}
const rows = readIndex<Row>('fetch').filter((row) => !row.case.includes('ls-refs'));

const receive = async ({ file, protocol }: Pick<Row, 'file' | 'protocol'>): Promise<MemoryBytes> => {
  const bytes = new MemoryBytes();
  for await (const chunk of packOfFetch(
    new PacketReader(inPieces(readAnswer(file).body, 13), 1_000_000),
    protocol,
    new RemoteText(),
  ))
    bytes.append(chunk);
  return bytes;
};

describe('packOfFetch on recorded answers', () => {
  const isAnswered = (row: Row): boolean => readAnswer(row.file).body.length > 0;

  it.each(rows.filter((row) => !isAnswered(row)))(
    '$file is empty and no success: a capability it does not know killed the server',
    async (row) => {
      await expect(receive(row)).rejects.toThrow('the answer has no pack');
    },
  );

  it.each(rows.filter((row) => isAnswered(row) && !row.case.includes('want-unknown') && row.case !== 'thin-ref-delta'))(
    '$file',
    async (row) => {
      const want = row.request.flatMap((line) => /^want ([0-9a-f]{40})/.exec(line)?.[1] ?? [])[0] ?? '';

      const pack = await indexPack(await receive(row), () => undefined);

      expect(pack.index.offsetOf(want)).toBeDefined();
    },
  );

  it.each(rows.filter((row) => row.case.includes('want-unknown')))(
    '$file says which object it does not give',
    async (row) => {
      await expect(receive(row)).rejects.toThrow('upload-pack: not our ref 3333333333333333333333333333333333333333');
    },
  );

  it('completes a thin pack from what is held, and refuses it when the base is not', async () => {
    const held = new ObjectStore({ cacheBytes: 1_000_000 });
    held.addPack(
      await indexPack(await receive({ file: 'fetch/git-2.39-thin-base.http', protocol: 0 }), () => undefined),
    );
    const thin = { file: 'fetch/git-2.39-thin-ref-delta.http', protocol: 0 } as const;

    const pack = await indexPack(await receive(thin), (oid) => held.find(oid));
    held.addPack(pack);

    expect(pack.index.count).toBe(4);
    expect(held.read('8d642768987c5e23a76bd9c5a7685854754adeea', 'commit').toString()).toMatch(/^tree /);
    await expect(indexPack(await receive(thin), () => undefined)).rejects.toThrow(
      '1 deltas whose base is neither in it nor here',
    );
  });
});
