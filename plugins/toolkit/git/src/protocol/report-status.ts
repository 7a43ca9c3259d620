import { MalformedData } from '../objects/delta.js';
import { PacketReader, textOf } from './pkt-line.js';
import { bandOne, RemoteText } from './sideband.js';

/** What `git-receive-pack` reported. Absent parts were not said. */
export interface PushReport {
  /** `ok`, or why the pack could not be taken. */
  readonly unpack?: string;
  /** By full ref name: `ok`, or why not. */
  readonly resultByRef: ReadonlyMap<string, string>;
  /** Text of the remote, at most 4 KiB, not redacted. */
  readonly text: string;
  /** Whether nothing at all was answered. */
  readonly isEmpty: boolean;
  /** Whether the answer ended where it should; a cut report proves nothing it does not say. */
  readonly isWhole: boolean;
}

/** Reads an answer to a push, to its end: text may follow the report. Never throws for what the remote wrote. */
export async function readPushReport(packets: PacketReader, hasSideband: boolean): Promise<PushReport> {
  const text = new RemoteText();
  const seen = { unpack: undefined as string | undefined, resultByRef: new Map<string, string>() };
  const isEmpty = (await packets.peek(1)).length === 0;
  let isWhole = true;
  try {
    const report = hasSideband ? new PacketReader(bandOne(packets, text), Infinity) : packets;
    for (
      let packet = await report.next();
      packet.kind !== 'end' && packet.kind !== 'flush';
      packet = await report.next()
    ) {
      if (packet.kind === 'data') note(textOf(packet.data), seen);
    }
    await report.drain();
    await packets.drain();
  } catch (error) {
    // A connection cut behind the report takes nothing back of what it said.
    if (!(error instanceof MalformedData) && seen.resultByRef.size === 0) throw error;
    isWhole = false;
  }
  return {
    ...(seen.unpack === undefined ? {} : { unpack: seen.unpack }),
    resultByRef: seen.resultByRef,
    text: text.text,
    isEmpty,
    isWhole,
  };
}

function note(line: string, seen: { unpack: string | undefined; readonly resultByRef: Map<string, string> }): void {
  if (line.startsWith('unpack ')) seen.unpack = line.slice(7);
  else if (line.startsWith('ok ')) seen.resultByRef.set(line.slice(3), 'ok');
  else if (line.startsWith('ng ')) {
    const [ref = '', ...reason] = line.slice(3).split(' ');
    seen.resultByRef.set(ref, reason.join(' ') || 'no reason given');
  }
}
