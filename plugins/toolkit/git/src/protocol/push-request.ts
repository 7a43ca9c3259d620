import type { Oid } from '../objects/oid.js';
import type { Capabilities } from './capabilities.js';
import { FLUSH, pkt } from './pkt-line.js';

export interface RefUpdate {
  readonly ref: string;
  readonly old: Oid;
  readonly new: Oid;
}

/** Never `atomic`: on a single ref it hides every reason (chapter 40, 4.6). */
export function pushCapabilities(advertised: Capabilities, agent: string): readonly string[] {
  return advertised.pick(['report-status', 'side-band-64k', 'ofs-delta', 'object-format=sha1', `agent=${agent}`]);
}

/** What stands before the pack in the body of a push. */
export function pushCommand(update: RefUpdate, capabilities: readonly string[]): Buffer {
  return Buffer.concat([
    pkt(`${update.old} ${update.new} ${update.ref}\0${capabilities.length === 0 ? '' : ` ${capabilities.join(' ')}`}`),
    FLUSH,
  ]);
}
