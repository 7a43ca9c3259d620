import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { fault, type KustomizeFeature } from './features.js';

export function isFields(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Kustomize makes no difference between an absent field and an empty one. */
export function isEmptyValue(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Collects what is wrong while a kustomization is read. */
export class Shape {
  readonly features: KustomizeFeature[] = [];

  add(feature: KustomizeFeature): void {
    this.features.push(feature);
  }

  wrongType(key: string, expected: string): false {
    this.add(fault('unparseable', `${key} must be ${expected}`));
    return false;
  }

  unknownKey(key: string, where: string): false {
    this.add(fault('unparseable', `unknown key ${key} in ${where}`));
    return false;
  }

  /** Items of a list of maps; whatever is none is reported. */
  maps(value: JsonValue | undefined, key: string): readonly JsonObject[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.wrongType(key, 'a list');
      return [];
    }
    const items: JsonObject[] = [];
    for (const item of value as readonly JsonValue[]) {
      if (isFields(item)) items.push(item);
      else this.wrongType(`an item of ${key}`, 'a map');
    }
    return items;
  }
}

export function textList(fields: JsonObject, key: string, shape: Shape): readonly string[] {
  const value = fields[key];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value as readonly string[];
  shape.wrongType(key, 'a list of strings');
  return [];
}

/** Undefined when absent, null or blank. */
export function optionalText(fields: JsonObject, key: string, shape: Shape): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  shape.wrongType(key, 'a string');
  return undefined;
}
