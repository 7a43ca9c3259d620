import { MalformedData } from '../objects/delta.js';
import { RemoteSaidError } from './advertisement.js';
import { textOf, type PacketReader } from './pkt-line.js';
import { bandOne, type RemoteText } from './sideband.js';

/**
 * The pack in an answer of `git-upload-pack`, with everything before it read and dropped.
 *
 * @throws MalformedData, RemoteSaidError (`ERR upload-pack: not our ref ...`)
 */
export async function* packOfFetch(packets: PacketReader, version: 0 | 2, text: RemoteText): AsyncGenerator<Buffer> {
  if (version === 2) {
    for (;;) {
      const packet = await packets.next();
      if (packet.kind === 'end') throw new MalformedData('the answer has no pack');
      if (packet.kind !== 'data') continue;
      const line = saidOf(packet.data);
      if (line === 'packfile') return yield* bandOne(packets, text);
    }
  }
  for (;;) {
    const start = await packets.peek(5);
    if (start.length === 0) throw new MalformedData('the answer has no pack');
    if (start.toString('latin1', 0, 4) === 'PACK') return yield* packets.rest();
    if (
      start.length === 5 &&
      start[4] !== undefined &&
      start[4] <= 3 &&
      Number.parseInt(start.toString('latin1', 0, 4), 16) > 4
    )
      return yield* bandOne(packets, text);
    const packet = await packets.next();
    if (packet.kind !== 'data') continue;
    const line = saidOf(packet.data);
    if (!/^(shallow |unshallow |ACK |NAK$)/.test(line))
      throw new MalformedData('the answer to a fetch is not understood');
  }
}

function saidOf(data: Buffer): string {
  const line = textOf(data);
  if (line.startsWith('ERR ')) throw new RemoteSaidError(line.slice(4));
  return line;
}
