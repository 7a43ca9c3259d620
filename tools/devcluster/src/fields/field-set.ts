import { type Json, type JsonObject, type MutableJson, isObject } from '../object.js';

/**
 * A set of field paths, as managedFields keep them. Steps are spelled as in FieldsV1: `f:name`, `k:{"name":"c"}`, `v:"x"`.
 */
export class FieldSet {
  /** The path to here is itself a member. */
  isMember = false;
  readonly children = new Map<string, FieldSet>();

  static fromFieldsV1(fields: Json | undefined): FieldSet {
    const set = new FieldSet();
    if (!isObject(fields)) return set;
    const steps = Object.entries(fields);
    for (const [step, inner] of steps) {
      if (step === '.') set.isMember = true;
      else {
        const child = FieldSet.fromFieldsV1(inner);
        if (isObject(inner) && Object.keys(inner).length === 0) child.isMember = true;
        set.children.set(step, child);
      }
    }
    return set;
  }

  toFieldsV1(): JsonObject {
    const found: MutableJson = {};
    if (this.isMember && this.children.size > 0) found['.'] = {};
    for (const step of [...this.children.keys()].sort())
      found[step] = (this.children.get(step) as FieldSet).toFieldsV1();
    return found as JsonObject;
  }

  child(step: string): FieldSet {
    let found = this.children.get(step);
    if (found === undefined) {
      found = new FieldSet();
      this.children.set(step, found);
    }
    return found;
  }

  get isEmpty(): boolean {
    return !this.isMember && this.children.size === 0;
  }

  /** Members of either. */
  union(other: FieldSet): FieldSet {
    const found = new FieldSet();
    found.isMember = this.isMember || other.isMember;
    for (const [step, child] of this.children)
      found.children.set(step, other.children.has(step) ? child.union(other.children.get(step) as FieldSet) : child);
    for (const [step, child] of other.children) if (!this.children.has(step)) found.children.set(step, child);
    return found;
  }

  /** Members of this one that are not members of `other`; a path leaves, the paths below it stay. */
  difference(other: FieldSet): FieldSet {
    const found = new FieldSet();
    found.isMember = this.isMember && !other.isMember;
    for (const [step, child] of this.children) {
      const opposite = other.children.get(step);
      const rest = opposite === undefined ? child : child.difference(opposite);
      if (!rest.isEmpty) found.children.set(step, rest);
    }
    return found;
  }

  intersection(other: FieldSet): FieldSet {
    const found = new FieldSet();
    found.isMember = this.isMember && other.isMember;
    for (const [step, child] of this.children) {
      const opposite = other.children.get(step);
      const both = opposite === undefined ? undefined : child.intersection(opposite);
      if (both !== undefined && !both.isEmpty) found.children.set(step, both);
    }
    return found;
  }

  equals(other: FieldSet): boolean {
    if (this.isMember !== other.isMember || this.children.size !== other.children.size) return false;
    for (const [step, child] of this.children) {
      const opposite = other.children.get(step);
      if (opposite === undefined || !child.equals(opposite)) return false;
    }
    return true;
  }

  /** Every member, as the API server writes paths: `.spec.containers[name="c"].image`. */
  paths(prefix = ''): string[] {
    const found = this.isMember && prefix !== '' ? [prefix] : [];
    for (const step of [...this.children.keys()].sort())
      found.push(...(this.children.get(step) as FieldSet).paths(prefix + stepText(step)));
    return found;
  }
}

function stepText(step: string): string {
  const rest = step.slice(2);
  if (step.startsWith('f:')) return `.${rest}`;
  if (step.startsWith('v:')) return `[=${rest}]`;
  const keys = JSON.parse(rest) as Record<string, unknown>;
  return `[${Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',')}]`;
}
