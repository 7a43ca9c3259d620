import { MalformedData } from '../objects/delta.js';
import type { PacketReader } from './pkt-line.js';

/** 4 KiB of what the remote said is enough to explain a refusal. */
const MAX_TEXT_BYTES = 4096;

/** Text of sideband 2 and 3, bounded; the beginning is kept. */
export class RemoteText {
  #text = '';

  add(data: Buffer): void {
    if (this.#text.length < MAX_TEXT_BYTES) this.#text = (this.#text + data.toString('utf8')).slice(0, MAX_TEXT_BYTES);
  }

  get text(): string {
    return this.#text;
  }
}

/**
 * Band 1 of a stream, up to the flush that ends it; bands 2 and 3 go to `text`.
 *
 * @throws MalformedData when the remote ended it with an error of band 3
 */
export async function* bandOne(packets: PacketReader, text: RemoteText): AsyncGenerator<Buffer> {
  for (;;) {
    const packet = await packets.next();
    if (packet.kind === 'flush' || packet.kind === 'end' || packet.kind === 'response-end') return;
    if (packet.kind !== 'data' || packet.data.length === 0) continue;
    const content = packet.data.subarray(1);
    const band = packet.data[0];
    if (band === 1) yield content;
    else if (band === 2) text.add(content);
    else if (band === 3) {
      text.add(content);
      throw new MalformedData(`the remote gave up: ${content.toString('utf8').trim().slice(0, 200)}`);
    } else throw new MalformedData('the answer is not in sidebands');
  }
}
