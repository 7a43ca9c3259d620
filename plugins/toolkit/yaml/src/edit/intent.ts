import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { deepEqual } from '../equality.js';
import { isSameQuantity } from './quantity.js';

/** Where in an object a value stands. Items of a list stand where their list does. */
export interface Place {
  readonly key: string;
  readonly above: Place | undefined;
  /** Kind, of a built-in type. */
  readonly builtIn: string | undefined;
}

export function rootPlace(object: JsonObject): Place {
  const { apiVersion, kind } = object;
  // Groups of the project itself have no dot, those of everybody else must have one.
  const isBuiltIn = typeof apiVersion === 'string' && !apiVersion.split('/', 1)[0]?.includes('.');
  return { key: '', above: undefined, builtIn: isBuiltIn && typeof kind === 'string' ? kind : undefined };
}

export const placeBelow = (above: Place, key: string): Place => ({ key, above, builtIn: above.builtIn });

/** Whether what Git says and what the object says mean the same (chapter 20, 4.2 and 6.7). */
export function isSameIntent(git: JsonValue | undefined, live: JsonValue | undefined, place: Place): boolean {
  if (git === live) return true;
  if (isMap(git) && isMap(live)) return isSameMap(git, live, place);
  if (Array.isArray(git) && Array.isArray(live)) {
    const left = git as readonly JsonValue[];
    const right = live as readonly JsonValue[];
    return left.length === right.length && left.every((item, at) => isSameIntent(item, right[at], place));
  }
  return deepEqual(git, live) || (isQuantityPlace(place) && isSameQuantity(git, live));
}

function isSameMap(git: JsonObject, live: JsonObject, place: Place): boolean {
  for (const key of Object.keys(git)) {
    const value = git[key];
    if (Object.hasOwn(live, key)) {
      if (!isSameIntent(value, live[key], placeBelow(place, key))) return false;
    } else if (!isAsAbsent(value, key, place)) return false;
  }
  for (const key of Object.keys(live)) {
    if (!Object.hasOwn(git, key) && !isEmptyMetadata(live[key], key, place)) return false;
  }
  return true;
}

/** In Git, without counterpart in the object, and still no difference. */
export function isAsAbsent(value: JsonValue | undefined, key: string, place: Place): boolean {
  return value === null || value === undefined || isEmptyMetadata(value, key, place);
}

/** No labels are as good as an empty map of them. */
export function isEmptyMetadata(value: JsonValue | undefined, key: string, place: Place): boolean {
  if ((key !== 'labels' && key !== 'annotations') || place.key !== 'metadata') return false;
  return isMap(value) && Object.keys(value).length === 0;
}

const withPodSpec = new Set([
  'Pod',
  'PodTemplate',
  'ReplicationController',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'CronJob',
]);
const limitRangeFields = new Set(['default', 'defaultRequest', 'max', 'min', 'maxLimitRequestRatio']);

/** Where built-in types hold quantities, which have many spellings. */
export function isQuantityPlace({ key, above, builtIn }: Place): boolean {
  if (builtIn === undefined || above === undefined) return false;
  const parent = above.key;
  const grandparent = above.above?.key;
  if (withPodSpec.has(builtIn) || builtIn === 'PersistentVolumeClaim') {
    if (parent === 'requests' || parent === 'limits') return grandparent === 'resources';
    if (parent === 'overhead') return grandparent === 'spec';
    return (key === 'sizeLimit' && parent === 'emptyDir') || (key === 'divisor' && parent === 'resourceFieldRef');
  }
  switch (builtIn) {
    case 'PersistentVolume':
      return parent === 'capacity' && grandparent === 'spec';
    case 'ResourceQuota':
      return parent === 'hard' && grandparent === 'spec';
    case 'LimitRange':
      return limitRangeFields.has(parent) && grandparent === 'limits';
    case 'HorizontalPodAutoscaler':
      return (key === 'value' || key === 'averageValue') && (parent === 'target' || parent === 'object');
    default:
      return false;
  }
}

export function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
