import type { Oid } from '../objects/oid.js';
import type { Capabilities } from './capabilities.js';
import { DELIM, FLUSH, pkt } from './pkt-line.js';

export interface FetchWish {
  readonly wants: readonly Oid[];
  /** Commits whose whole tree is held. */
  readonly haves: readonly Oid[];
}

/** Asked for where advertised. `multi_ack_detailed` because Azure DevOps refuses requests without it (FC-PSH-10). */
const V0_WANTED = ['multi_ack_detailed', 'side-band-64k', 'thin-pack', 'ofs-delta', 'no-progress'];

/** Depth 1, thin, everything held named as shallow: a tip costs what changed in it and nothing of its history (chapter 40, 4.9). */
export function fetchRequestV0({ wants, haves }: FetchWish, capabilities: Capabilities, agent: string): Buffer {
  const wanted = capabilities.has('multi_ack_detailed') ? V0_WANTED : ['multi_ack', ...V0_WANTED];
  const words = capabilities.pick([...wanted, `agent=${agent}`]);
  const canDeepen = capabilities.has('shallow');
  return Buffer.concat([
    ...wants.map((oid, nth) => pkt(nth === 0 ? `want ${oid} ${words.join(' ')}\n` : `want ${oid}\n`)),
    ...(canDeepen ? [...haves.map((oid) => pkt(`shallow ${oid}\n`)), pkt('deepen 1\n')] : []),
    FLUSH,
    ...haves.map((oid) => pkt(`have ${oid}\n`)),
    pkt('done\n'),
  ]);
}

/** Sent without an advertisement before it: `shallow`, `thin-pack` and `ofs-delta` belong to every server of protocol 2. */
export function fetchRequestV2({ wants, haves }: FetchWish): Buffer {
  return Buffer.concat([
    pkt('command=fetch'),
    DELIM,
    pkt('thin-pack'),
    pkt('ofs-delta'),
    pkt('no-progress'),
    ...haves.map((oid) => pkt(`shallow ${oid}`)),
    pkt('deepen 1'),
    ...wants.map((oid) => pkt(`want ${oid}`)),
    ...haves.map((oid) => pkt(`have ${oid}`)),
    pkt('done'),
    FLUSH,
  ]);
}
