import { type Json, isEqual, isObject } from '../object.js';
import type { Shape } from '../schema/shape.js';
import { FieldSet } from './field-set.js';
import { type Step, isGranular, stepsOf } from './steps.js';

export interface Comparison {
  /** Paths whose value is new or different. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/**
 * What a write changed, path by path. A struct the server writes in any case is nobody's addition, as long as what it stands
 * in is none either.
 */
export function compare(before: Json | undefined, after: Json | undefined, shape: Shape): Comparison {
  const found = { changed: new FieldSet(), removed: new FieldSet() };
  walk(before, after, shape, true, found.changed, found.removed);
  return found;
}

function walk(
  before: Json | undefined,
  after: Json | undefined,
  shape: Shape,
  isAlways: boolean,
  changed: FieldSet,
  removed: FieldSet,
): void {
  if (before === undefined || after === undefined) {
    const value = after ?? before;
    if (value === undefined) return;
    const side = after === undefined ? removed : changed;
    const isContainer = isGranular(value, shape);
    if (!isAlways || !(isContainer || isZero(value))) side.isMember = true;
    if (isContainer)
      for (const step of stepsOf(value, shape))
        walkInto(
          step,
          after === undefined ? step.value : undefined,
          after === undefined ? undefined : step.value,
          isAlways && step.isAlways,
          changed,
          removed,
        );
    return;
  }
  if (!isGranular(before, shape) || !isGranular(after, shape) || Array.isArray(before) !== Array.isArray(after)) {
    if (!isEqual(before, after)) changed.isMember = true;
    return;
  }
  const beforeByStep = new Map(stepsOf(before, shape).map((step) => [step.step, step]));
  for (const step of stepsOf(after, shape)) {
    walkInto(step, beforeByStep.get(step.step)?.value, step.value, step.isAlways, changed, removed);
    beforeByStep.delete(step.step);
  }
  for (const step of beforeByStep.values()) walkInto(step, step.value, undefined, step.isAlways, changed, removed);
}

/** What Go writes for nothing. */
function isZero(value: Json): boolean {
  return (
    value === null ||
    value === '' ||
    value === 0 ||
    value === false ||
    (isObject(value) && Object.keys(value).length === 0)
  );
}

function walkInto(
  step: Step,
  before: Json | undefined,
  after: Json | undefined,
  isAlways: boolean,
  changed: FieldSet,
  removed: FieldSet,
): void {
  const inner = { changed: new FieldSet(), removed: new FieldSet() };
  walk(before, after, step.shape, isAlways, inner.changed, inner.removed);
  if (!inner.changed.isEmpty) changed.children.set(step.step, changed.child(step.step).union(inner.changed));
  if (!inner.removed.isEmpty) removed.children.set(step.step, removed.child(step.step).union(inner.removed));
}

/** The paths an applied configuration speaks about. */
export function fieldSetOf(value: Json, shape: Shape): FieldSet {
  const found = new FieldSet();
  if (!isGranular(value, shape) || (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0)) {
    found.isMember = true;
    return found;
  }
  for (const step of stepsOf(value, shape)) {
    const child = fieldSetOf(step.value, step.shape);
    if (!step.isDeclared) child.isMember = true;
    found.children.set(step.step, found.child(step.step).union(child));
  }
  return found;
}

const unowned: readonly (readonly string[])[] = [
  ['f:apiVersion'],
  ['f:kind'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ].map((name) => ['f:metadata', `f:${name}`]),
];

/** Nobody owns what the server itself writes into every object. */
export function withoutUnowned(set: FieldSet): FieldSet {
  const gone = new FieldSet();
  for (const path of unowned) {
    let at = gone;
    for (const step of path) at = at.child(step);
    markAll(
      at,
      path.reduce<FieldSet | undefined>((found, step) => found?.children.get(step), set),
    );
  }
  const metadata = set.children.get('f:metadata');
  const rest = set.difference(gone);
  // `metadata` alone says nothing.
  if (metadata?.isMember === true && rest.children.get('f:metadata') !== undefined) {
    const kept = rest.children.get('f:metadata') as FieldSet;
    const copy = new FieldSet();
    for (const [step, child] of kept.children) copy.children.set(step, child);
    if (copy.isEmpty) rest.children.delete('f:metadata');
    else rest.children.set('f:metadata', copy);
  }
  return rest;
}

function markAll(gone: FieldSet, present: FieldSet | undefined): void {
  gone.isMember = true;
  for (const [step, child] of present?.children ?? []) markAll(gone.child(step), child);
}
