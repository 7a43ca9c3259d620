import { stringifyJson } from '../json.js';
import type { KubeObject } from '../object.js';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

const head = (type: ChangeType) => `{"type":"${type}","object":`;
const tail = '}\n';

/** One stored state of one object. Immutable; its bytes are made once, however many lists and watches they go to. */
export class Entry {
  readonly key: string;
  readonly version: number;
  readonly object: KubeObject;
  /** The line of its ADDED event; the object's JSON is a part of it. */
  #added: Buffer | undefined;

  constructor(key: string, version: number, object: KubeObject) {
    this.key = key;
    this.version = version;
    this.object = object;
  }

  json(): Buffer {
    return this.line('ADDED').subarray(head('ADDED').length, -tail.length);
  }

  /** The watch line, newline included. */
  line(type: ChangeType): Buffer {
    const added = (this.#added ??= Buffer.from(`${head('ADDED')}${stringifyJson(this.object)}${tail}`));
    return type === 'ADDED' ? added : Buffer.concat([Buffer.from(head(type)), added.subarray(head('ADDED').length)]);
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
