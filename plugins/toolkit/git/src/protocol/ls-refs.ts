import { MalformedData } from '../objects/delta.js';
import { checkOid, nextLine, type RemoteHead, type RemoteRefs } from './advertisement.js';
import { DELIM, FLUSH, pkt, type PacketReader } from './pkt-line.js';
import type { Oid } from '../objects/oid.js';

/** The `ls-refs` command of protocol 2. Sent without an advertisement before it, so it names no capability. */
export function lsRefsRequest(prefixes: readonly string[]): Buffer {
  return Buffer.concat([
    pkt('command=ls-refs\n'),
    DELIM,
    pkt('symrefs\n'),
    pkt('unborn\n'),
    ...prefixes.map((prefix) => pkt(`ref-prefix ${prefix}\n`)),
    FLUSH,
  ]);
}

/**
 * @param isWanted which refs to keep; `isEmpty` counts all of them
 * @param isWhole whether every ref was asked for
 * @throws MalformedData, RemoteSaidError, ForeignObjectFormat
 */
export async function readLsRefs(
  packets: PacketReader,
  isWanted: (ref: string) => boolean,
  isWhole: boolean,
): Promise<RemoteRefs> {
  const oidByRef = new Map<string, Oid>();
  let head: RemoteHead = { kind: 'unknown' };
  let refCount = 0;
  for (;;) {
    // An answer that just ends was cut, or never was one: "nothing there" must be said.
    if ((await packets.peek(4)).length === 0) throw new MalformedData('the answer is empty');
    const line = await nextLine(packets);
    if (line === undefined) break;
    const [oid = '', ref = '', ...attributes] = line.split(' ');
    const target = attributes
      .find((attribute) => attribute.startsWith('symref-target:'))
      ?.slice('symref-target:'.length);
    if (oid === 'unborn') {
      if (ref === 'HEAD' && target !== undefined) head = { kind: 'unborn', ref: target };
      continue;
    }
    checkOid(oid);
    if (ref === 'HEAD') head = target === undefined ? { kind: 'detached' } : { kind: 'branch', ref: target, oid };
    else {
      refCount += 1;
      if (isWanted(ref)) oidByRef.set(ref, oid);
    }
  }
  const isEmpty =
    refCount > 0 || head.kind === 'branch' || head.kind === 'detached' ? false : isWhole ? true : undefined;
  return { oidByRef, head, isEmpty };
}
