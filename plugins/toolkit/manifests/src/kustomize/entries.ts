import type { JsonObject } from '@gitops-reverser/kernel-api';
import { fault } from './features.js';
import { optionalText, type Shape } from './shapes.js';

/** An entry of `images`; a blank component is absent. */
export interface ImageEntry {
  readonly section: 'images' | 'imageTags';
  readonly index: number;
  readonly name: string;
  readonly newName?: string;
  readonly newTag?: string;
  readonly digest?: string;
}

export interface ReplicaEntry {
  readonly index: number;
  readonly name: string;
  readonly count: number;
}

const imageKeys = new Map(['name', 'newName', 'newTag', 'digest', 'tagSuffix'].map((key) => [key.toLowerCase(), key]));

/** Kustomize takes the name as a regular expression; we run none, so only what is none but for `.` will do. */
const unsafePattern = /[\\^$*+?()[\]{}|]/;

export function readImages(fields: JsonObject, shape: Shape): readonly ImageEntry[] {
  const entries: ImageEntry[] = [];
  for (const section of ['images', 'imageTags'] as const)
    for (const [index, raw] of shape.maps(fields[section], section).entries()) {
      const entry = normalizeKeys(raw, section, shape);
      const name = optionalText(entry, 'name', shape);
      if (name === undefined) {
        if (entry['name'] === undefined || entry['name'] === null || entry['name'] === '')
          shape.add(fault('malformed-images', `an entry of ${section} without name`));
        continue;
      }
      if (unsafePattern.test(name)) shape.add(fault('malformed-images', `a name in ${section} is a pattern`));
      if (entry['tagSuffix'] !== undefined) shape.add(fault('malformed-images', 'tagSuffix'));
      const parts = (['newName', 'newTag', 'digest'] as const).flatMap((key) => {
        const text = optionalText(entry, key, shape);
        return text === undefined ? [] : [[key, text] as const];
      });
      entries.push({ section, index, name, ...Object.fromEntries(parts) });
    }
  return entries;
}

function normalizeKeys(entry: JsonObject, section: string, shape: Shape): JsonObject {
  return Object.fromEntries(
    Object.entries(entry).flatMap(([key, value]) => {
      const known = imageKeys.get(key.toLowerCase());
      if (known === undefined) shape.unknownKey(key, section);
      return known === undefined ? [] : [[known, value] as const];
    }),
  );
}

export function readReplicas(fields: JsonObject, shape: Shape): readonly ReplicaEntry[] {
  const entries: ReplicaEntry[] = [];
  for (const [index, entry] of shape.maps(fields['replicas'], 'replicas').entries()) {
    const unknown = Object.keys(entry).find((key) => key !== 'name' && key !== 'count');
    if (unknown !== undefined) shape.unknownKey(unknown, 'replicas');
    const { name, count = 0 } = entry;
    if (name !== undefined && name !== null && typeof name !== 'string')
      shape.wrongType('name of replicas', 'a string');
    else if (!name) shape.add(fault('malformed-replicas', 'an entry without name'));
    else if (typeof count !== 'number') shape.wrongType('count of replicas', 'an integer');
    else if (!Number.isSafeInteger(count) || count < 0)
      shape.add(fault('malformed-replicas', `count of ${name} is no integer from 0`));
    else entries.push({ index, name, count });
  }
  return entries;
}
