import { resolve } from 'node:path';
import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import type { KubeconfigProblems } from './kubeconfig-problems.js';

/** The fields of one cluster or user; an empty string is an absent field, as for kubectl. */
export class KubeconfigFields {
  readonly #object: JsonObject;
  readonly #owner: string;
  readonly #problems: KubeconfigProblems;

  constructor(object: JsonObject, owner: string, problems: KubeconfigProblems) {
    this.#object = object;
    this.#owner = owner;
    this.#problems = problems;
  }

  has(name: string): boolean {
    const value = this.#object[name];
    return value !== undefined && value !== null && value !== '';
  }

  /** 10, 11.5: a field we do not know may mean another identity; it is refused, never stripped. */
  refuseUnknown(known: readonly string[]): void {
    for (const name of Object.keys(this.#object)) {
      if (known.includes(name) || !this.has(name)) continue;
      this.#invalid(/^[\w.-]{1,63}$/.test(name) ? name : 'field with an unusual name', 'is not supported');
    }
  }

  string(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#object[name];
    if (typeof value === 'string') return value;
    this.#invalid(name, 'is no string');
    return undefined;
  }

  boolean(name: string): boolean {
    if (!this.has(name)) return false;
    const value = this.#object[name];
    if (typeof value !== 'boolean') this.#invalid(name, 'is neither true nor false');
    return value === true;
  }

  object(name: string): JsonObject | undefined {
    if (!this.has(name)) return undefined;
    const value = objectOf(this.#object[name]);
    if (value === undefined) this.#invalid(name, 'is no map');
    return value;
  }

  /** A string that travels in a header. */
  header(name: string): string | undefined {
    const value = this.string(name)?.trim();
    if (value === undefined || isHeaderValue(value)) return value;
    this.#invalid(name, 'holds characters that cannot be sent');
    return undefined;
  }

  headers(name: string): readonly string[] {
    if (!this.has(name)) return [];
    const value = this.#object[name];
    if (
      Array.isArray(value) &&
      value.every((item): item is string => typeof item === 'string' && item !== '' && isHeaderValue(item))
    )
      return value;
    this.#invalid(name, 'is no list of plain strings');
    return [];
  }

  pem<K extends string>(name: string, key: K): { [P in K]?: string } {
    const value = this.string(name);
    if (value !== undefined && !Buffer.from(value, 'base64').toString('latin1').includes('-----BEGIN '))
      this.#invalid(name, 'is no base64 of a PEM text');
    return given(key, value);
  }

  file<K extends string>(name: string, key: K, filesFrom: string | undefined): { [P in K]?: string } {
    if (!this.has(name)) return {};
    if (filesFrom === undefined) {
      this.#problems.add('KubeConfigFileReferenceNotAllowed', `${this.#owner}.${name}`);
      return {};
    }
    const value = this.string(name);
    return value === undefined ? {} : given(key, resolve(filesFrom, value));
  }

  #invalid(name: string, what: string): void {
    this.#problems.add('KubeConfigInvalid', `${this.#owner}.${name} ${what}`);
  }
}

const isHeaderValue = (value: string): boolean => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value);

export const objectOf = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
/** The property, or nothing: an absent field stays absent. */
export function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
