import { falseOr, good, progresses, stalls, waits } from '../conditions-table.js';
import { count, list, object, optional, string } from '../schema/schema.js';

/** Streams of a target or of one rule, in its status and in its condition `StreamsRunning`. */
export const streams = object('Streams that feed it.', {
  summary: optional(string('"ready/total", for the column only.', { max: 32 })),
  total: count('Collections that are followed.'),
  ready: count('Collections whose stream runs.'),
  replaying: count('Collections that are being read from the start.'),
  blocked: count('Collections that cannot be followed.'),
  pendingSample: optional(list('Some that are not ready.', string('Collection.', { max: 512 }), { max: 5 })),
});
export const streamRows = [
  good('AllStreamsReady', 'NoResolvedTypes'),
  waits('Replaying'),
  progresses('ExpiredResourceVersion'),
  falseOr(['progress', 'stalled'], 'WatchError'),
  stalls('WatchNotPermitted'),
] as const;
