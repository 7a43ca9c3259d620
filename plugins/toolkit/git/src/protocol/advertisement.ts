import { MalformedData } from '../objects/delta.js';
import { isOid, ZERO_OID, type Oid } from '../objects/oid.js';
import { Capabilities } from './capabilities.js';
import { textOf, type PacketReader } from './pkt-line.js';

/** What a remote said about its refs, as far as it was asked. */
export interface RemoteRefs {
  /** Full names. Only those asked for are kept. */
  readonly oidByRef: ReadonlyMap<string, Oid>;
  readonly head: RemoteHead;
  /** Whether any ref exists at all; `undefined` when only some were asked for and none of those exists. */
  readonly isEmpty: boolean | undefined;
}

export type RemoteHead =
  /** Points at a branch that has commits. */
  | { readonly kind: 'branch'; readonly ref: string; readonly oid: Oid }
  /** Points at a branch without commits: an empty repository, or a dangling HEAD. */
  | { readonly kind: 'unborn'; readonly ref: string }
  | { readonly kind: 'detached' }
  /** The server did not say. */
  | { readonly kind: 'unknown' };

export type Advertisement =
  | { readonly version: 0; readonly capabilities: Capabilities; readonly refs: RemoteRefs }
  | { readonly version: 2; readonly capabilities: Capabilities };

/** Thrown before any oid is parsed when the repository counts its objects in something else than SHA-1. */
export class ForeignObjectFormat extends Error {
  readonly format: string;

  constructor(format: string) {
    super(`object format ${format}`);
    this.name = 'ForeignObjectFormat';
    this.format = format;
  }
}

/** Said by the remote in place of an answer (`ERR ...`). */
export class RemoteSaidError extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'RemoteSaidError';
  }
}

/**
 * Reads an advertisement of protocol 0, 1 or 2, with or without the `# service=` packet (chapter 40, 4.11). Refs are read one
 * by one and only those wanted are kept.
 *
 * @throws MalformedData, RemoteSaidError, ForeignObjectFormat
 */
export async function readAdvertisement(
  packets: PacketReader,
  isWanted: (ref: string) => boolean,
): Promise<Advertisement> {
  let line = await nextLine(packets);
  if (line?.startsWith('# service=') === true) {
    line = await nextLine(packets);
    if (line === undefined) line = await nextLine(packets);
  }
  if (line === 'version 2') return { version: 2, capabilities: await readCapabilities(packets) };
  if (line === 'version 1') line = await nextLine(packets);

  const oidByRef = new Map<string, Oid>();
  let capabilities = new Capabilities([]);
  let headOid: Oid | undefined;
  let refCount = 0;
  const branchesAtHead: string[] = [];
  for (let isFirst = true; line !== undefined; line = await nextLine(packets), isFirst = false) {
    const nul = line.indexOf('\0');
    if (isFirst && nul !== -1) {
      capabilities = new Capabilities(line.slice(nul + 1).split(' '));
      checkFormat(capabilities);
    }
    const [oid = '', ref = ''] = splitOnce(nul === -1 ? line : line.slice(0, nul));
    if (oid === 'shallow') continue;
    checkOid(oid);
    if (oid === ZERO_OID || ref.endsWith('^{}')) continue;
    if (ref === 'HEAD') headOid = oid;
    else {
      refCount += 1;
      if (oid === headOid && ref.startsWith('refs/heads/')) branchesAtHead.push(ref);
      if (isWanted(ref)) oidByRef.set(ref, oid);
    }
  }
  const symref = capabilities
    .values('symref')
    .find((value) => value.startsWith('HEAD:'))
    ?.slice(5);
  return {
    version: 0,
    capabilities,
    refs: { oidByRef, head: headOf(headOid, symref, branchesAtHead), isEmpty: refCount === 0 },
  };
}

function headOf(oid: Oid | undefined, symref: string | undefined, branchesAtHead: readonly string[]): RemoteHead {
  if (symref !== undefined)
    return oid === undefined ? { kind: 'unborn', ref: symref } : { kind: 'branch', ref: symref, oid };
  if (oid === undefined) return { kind: 'unknown' };
  // A server too old to say where HEAD points: guess only what cannot be wrong by much.
  const [only, second] = branchesAtHead;
  return only !== undefined && second === undefined ? { kind: 'branch', ref: only, oid } : { kind: 'detached' };
}

/** Capabilities of protocol 2: one a line. */
async function readCapabilities(packets: PacketReader): Promise<Capabilities> {
  const words: string[] = [];
  for (let line = await nextLine(packets); line !== undefined; line = await nextLine(packets)) words.push(line);
  const capabilities = new Capabilities(words);
  checkFormat(capabilities);
  return capabilities;
}

/** @throws ForeignObjectFormat when a server names a format and it is not sha1 */
function checkFormat(capabilities: Capabilities): void {
  const formats = capabilities.values('object-format');
  if (formats.length > 0 && !formats.includes('sha1')) throw new ForeignObjectFormat(formats.join(', '));
}

export function checkOid(oid: string): void {
  if (isOid(oid)) return;
  if (/^[0-9a-f]{64}$/.test(oid)) throw new ForeignObjectFormat('sha256');
  throw new MalformedData('the answer is no list of refs');
}

/** The next line, or `undefined` at a flush or the end. */
export async function nextLine(packets: PacketReader): Promise<string | undefined> {
  const packet = await packets.next();
  if (packet.kind !== 'data') return undefined;
  const line = textOf(packet.data);
  if (line.startsWith('ERR ')) throw new RemoteSaidError(line.slice(4));
  return line;
}

const splitOnce = (line: string): [string, string] => {
  const space = line.indexOf(' ');
  return space === -1 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
};
