import { stringifyJson } from '../json.js';
import type { KubeObject } from '../object.js';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One stored state of one object. Immutable; its JSON is made once, however many lists and watches it goes to. */
export class Entry {
  readonly key: string;
  readonly version: number;
  readonly object: KubeObject;
  #json: Buffer | undefined;
  readonly #linesByType = new Map<ChangeType, Buffer>();

  constructor(key: string, version: number, object: KubeObject) {
    this.key = key;
    this.version = version;
    this.object = object;
  }

  json(): Buffer {
    return (this.#json ??= Buffer.from(stringifyJson(this.object)));
  }

  /** The watch line, newline included. */
  line(type: ChangeType): Buffer {
    let line = this.#linesByType.get(type);
    if (line === undefined) {
      line = Buffer.concat([Buffer.from(`{"type":"${type}","object":`), this.json(), Buffer.from('}\n')]);
      // Only the form that snapshots repeat is worth its memory.
      if (type === 'ADDED') this.#linesByType.set(type, line);
    }
    return line;
  }
}

export interface Change {
  readonly type: ChangeType;
  readonly version: number;
  /** The state after the change; for DELETED the last state, under the version of the deletion. */
  readonly entry: Entry;
  readonly previous: Entry | undefined;
}

export function storeKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}
