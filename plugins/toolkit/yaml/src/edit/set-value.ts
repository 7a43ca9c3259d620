import { refuse, type JsonObject, type JsonValue, type Result } from '@gitops-reverser/kernel-api';
import { readDocument } from '../documents.js';
import type { SplitText } from '../split.js';
import { editDocument, type Edited, type EditRefusal } from './edit-document.js';
import { isMap } from './intent.js';

export interface PlaceRefusal {
  /** The path runs into a scalar, or beyond the end of a list. */
  readonly code: 'no-such-place';
  readonly message: string;
}

/**
 * Makes one value of a document what it should be and leaves every other as it is (chapter 20, 6.5); maps on the way that are not
 * there are made. Never writes the document anew.
 *
 * @param path keys and indexes from the root
 */
export function setDocumentValue(
  file: SplitText,
  index: number,
  path: readonly string[],
  value: JsonValue,
): Result<Edited, EditRefusal | PlaceRefusal> {
  const reading = readDocument(file, index);
  // What has no value is refused by the editor, by its name.
  if (reading.state !== 'read') return editDocument(file, index, {});
  const wanted = withValueAt(reading.value, path, value);
  if (wanted === undefined || !isMap(wanted))
    return refuse({
      code: 'no-such-place',
      message: `there is no place ${JSON.stringify(`/${path.join('/')}`)} in it`,
    });
  return editDocument(file, index, wanted, { mayRewrite: false });
}

function withValueAt(at: JsonValue | undefined, path: readonly string[], value: JsonValue): JsonValue | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(at)) {
    const list = at as readonly JsonValue[];
    const nth = /^(?:0|[1-9][0-9]{0,8})$/.test(key) ? Number(key) : list.length;
    const item = nth < list.length ? withValueAt(list[nth], rest, value) : undefined;
    return item === undefined ? undefined : list.with(nth, item);
  }
  if (at !== undefined && at !== null && !isMap(at)) return undefined;
  const fields: JsonObject = at ?? {};
  const below = withValueAt(Object.hasOwn(fields, key) ? fields[key] : undefined, rest, value);
  if (below === undefined) return undefined;
  const copy = Object.assign(Object.create(null) as Record<string, JsonValue>, fields);
  copy[key] = below;
  return copy;
}
