import { kindOf, type KindName } from '../kinds/kinds.js';
import { isRefused, retiredBelow, retiredShapes, retiredTexts } from '../retired.js';
import type { IntegerNode, IntOrStringNode, ListNode, MapNode, Node, ObjectNode, StringNode } from './schema.js';

export interface Problem {
  /** Field path with indexes: `spec.rules[0].resources`. */
  readonly path: string;
  /** Names the path, what was expected and what was found; never quotes a text that may hold a secret. */
  readonly message: string;
  readonly reason: 'InvalidSpec' | 'RetiredField';
}

/**
 * Every rule of schema and CEL again, for an object that may have been stored before the rule existed (VA-1). Retired
 * spellings come first: they say what to write instead.
 */
export function validateStored(kind: KindName, object: unknown): readonly Problem[] {
  const spec = isRecord(object) ? object['spec'] : undefined;
  return judge(kind, spec, undefined);
}

/** As `validateStored`, and the transition rules too: what the API server says to an update. */
export function validateUpdate(kind: KindName, object: unknown, stored: unknown): readonly Problem[] {
  return judge(kind, isRecord(object) ? object['spec'] : undefined, isRecord(stored) ? stored['spec'] : undefined);
}

function judge(kind: KindName, spec: unknown, old: unknown): readonly Problem[] {
  const walk: Walk = { kind, problems: [], blocking: 0 };
  visit(walk, kindOf(kind).spec.node, spec, old, 'spec', 'spec');
  for (const { paths, pattern, word, replacedBy } of retiredTexts.filter((entry) => entry.kind === kind)) {
    for (const [path, text] of paths.flatMap((one) => textsAt(spec, one.split('.').slice(1), 'spec'))) {
      if (pattern.test(text)) report(walk, path, `${word} is retired: use ${replacedBy}`, 'RetiredField');
    }
  }
  return [...walk.problems].sort((a, b) => Number(a.reason === 'InvalidSpec') - Number(b.reason === 'InvalidSpec'));
}

interface Walk {
  readonly kind: KindName;
  readonly problems: Problem[];
  /** Problems after which a rule may not rely on the shape it was written for. */
  blocking: number;
}
function report({ problems }: Walk, path: string, message: string, reason: Problem['reason'] = 'InvalidSpec'): void {
  problems.push({ path, message: message.startsWith('spec') ? message : `${path}: ${message}`, reason });
}
/** As on the API server: after such a problem the rules around it are not tried. */
function block(walk: Walk, path: string, message: string, reason: Problem['reason'] = 'InvalidSpec'): void {
  walk.blocking += 1;
  report(walk, path, message, reason);
}

/** @param place path without indexes, as the registry of retired fields spells it */
function visit(walk: Walk, node: Node, value: unknown, old: unknown, path: string, place: string): void {
  const before = walk.blocking;
  if (value === undefined || value === null) return block(walk, path, 'Required value');
  if (!hasType(node, value)) {
    const shape = retiredShapes.find(
      (entry) => entry.kind === walk.kind && entry.path === place && typeof value === entry.was,
    );
    if (shape !== undefined) return block(walk, path, shape.message, 'RetiredField');
    return block(
      walk,
      path,
      `must be of type ${typeName(node)}: found ${Array.isArray(value) ? 'array' : typeof value}`,
    );
  }
  switch (node.type) {
    case 'string':
      checkString(walk, node, value as string, path);
      break;
    case 'integer':
      checkInteger(walk, node, value as number, path);
      break;
    case 'boolean':
      break;
    case 'int-or-string':
      if (typeof value === 'string') checkString(walk, node, value, path);
      break;
    case 'list':
      visitList(walk, node, value as readonly unknown[], old, path, place);
      break;
    case 'map':
      visitMap(walk, node, value as Readonly<Record<string, unknown>>, old, path, place);
      break;
    case 'object':
      visitFields(walk, node, value as Readonly<Record<string, unknown>>, old, path, place);
  }
  if (walk.blocking > before) return;
  for (const rule of node.rules) {
    if (rule.transition && (old === undefined || old === null)) continue;
    if (!rule.holds(value, old)) report(walk, `${path}${rule.fieldPath ?? ''}`, rule.explain(value, old));
  }
}

function visitFields(
  walk: Walk,
  node: ObjectNode,
  value: Readonly<Record<string, unknown>>,
  old: unknown,
  path: string,
  place: string,
): void {
  for (const entry of retiredBelow(walk.kind, place)) {
    if (isRefused(entry, value[entry.field])) report(walk, `${path}.${entry.field}`, entry.message, 'RetiredField');
  }
  const oldFields = isRecord(old) ? old : {};
  for (const [name, { node: child, presence }] of Object.entries(node.fields)) {
    if (presence !== 'required' && (value[name] === undefined || value[name] === null)) continue;
    visit(walk, child, value[name], oldFields[name], `${path}.${name}`, `${place}.${name}`);
  }
}

function visitList(
  walk: Walk,
  node: ListNode,
  value: readonly unknown[],
  old: unknown,
  path: string,
  place: string,
): void {
  if (value.length > node.max)
    return block(walk, path, `Too many: ${value.length}: must have at most ${node.max} items`);
  if (node.min !== undefined && value.length < node.min) report(walk, path, `should have at least ${node.min} items`);
  const oldItems = Array.isArray(old) ? old : [];
  for (const [index, item] of value.entries()) {
    // as on the API server: items of a list that is no map have no earlier self
    const before =
      node.key === undefined
        ? undefined
        : oldItems.find((o) => isRecord(o) && isRecord(item) && o[node.key ?? ''] === item[node.key ?? '']);
    visit(walk, node.item, item, before, `${path}[${index}]`, `${place}[]`);
    if (node.list === 'set' && value.indexOf(item) < index)
      report(walk, `${path}[${index}]`, `Duplicate value: ${JSON.stringify(item)}`);
  }
}

function visitMap(
  walk: Walk,
  node: MapNode,
  value: Readonly<Record<string, unknown>>,
  old: unknown,
  path: string,
  place: string,
): void {
  const entries = Object.entries(value);
  if (entries.length > node.max)
    return block(walk, path, `Too many: ${entries.length}: must have at most ${node.max} items`);
  const oldEntries = isRecord(old) ? old : {};
  for (const [key, item] of entries) visit(walk, node.value, item, oldEntries[key], `${path}.${key}`, `${place}.*`);
}

function checkString(walk: Walk, node: StringNode | IntOrStringNode, value: string, path: string): void {
  const length = [...value].length;
  if (node.type === 'string') {
    if (node.values !== undefined && !node.values.includes(value)) {
      return block(
        walk,
        path,
        `Unsupported value: ${quote(value)}: supported values: ${node.values.map((v) => JSON.stringify(v)).join(', ')}`,
      );
    }
    if (node.min !== undefined && length < node.min)
      return report(walk, path, `${path} in body should be at least ${node.min} chars long`);
    if (node.format === 'date-time' && Number.isNaN(Date.parse(value)))
      return report(walk, path, `${path} in body must be of type date-time`);
  }
  if (length > node.max)
    return block(walk, path, `Too long: may not be more than ${node.max} bytes, found ${length} characters`);
  if (node.pattern !== undefined && !new RegExp(node.pattern, 'u').test(value))
    report(walk, path, `${path} in body should match '${node.pattern}'`);
}

function checkInteger(walk: Walk, node: IntegerNode, value: number, path: string): void {
  if (node.min !== undefined && value < node.min)
    report(walk, path, `${path} in body should be greater than or equal to ${node.min}, found ${value}`);
  if (node.max !== undefined && value > node.max)
    report(walk, path, `${path} in body should be less than or equal to ${node.max}, found ${value}`);
}

function hasType(node: Node, value: unknown): boolean {
  switch (node.type) {
    case 'string':
      return typeof value === 'string';
    case 'integer':
      return Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'int-or-string':
      return typeof value === 'string' || Number.isInteger(value);
    case 'list':
      return Array.isArray(value);
    case 'map':
    case 'object':
      return isRecord(value);
  }
}
const typeName = ({ type }: Node): string => ({ list: 'array', map: 'object' })[type as string] ?? type;
const quote = (value: string): string => JSON.stringify(value.length <= 64 ? value : `${value.slice(0, 63)}…`);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Texts at a path whose `*` is any key, each with the path it was found at. */
function textsAt(value: unknown, segments: readonly string[], at: string): readonly (readonly [string, string])[] {
  const [segment, ...rest] = segments;
  if (segment === undefined) return typeof value === 'string' ? [[at, value]] : [];
  if (!isRecord(value)) return [];
  const keys = segment === '*' ? Object.keys(value) : [segment];
  return keys.flatMap((key) => textsAt(value[key], rest, `${at}.${key}`));
}
