import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { encodeInFlow, encodeQuoted, isLiteralSafe, literalIndicators } from '../encode.js';

/** Numbers in [0, 1) from a seed. */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Dice = () => number;
const pick = <T>(roll: Dice, from: readonly T[]): T => from[Math.floor(roll() * from.length)] as T;

const words = [
  'a',
  'web',
  'x y',
  'yes',
  '0644',
  '1.5',
  '',
  'null',
  'http://h/p?q=1#f',
  '- x',
  'a: b',
  'ü',
  '# no',
  "it's",
  '"q"',
  '{x}',
  'k=v,w',
  '[z',
  '2026-01-01',
  '~',
  '*s',
  '&t',
  '!u',
  '%',
  '@',
  '`',
  'tab\there',
  ' lead',
  'trail ',
  ':',
  'a:',
  '😀',
  'end\\',
  '--flag=1',
  '<<',
  '---',
  '...',
];
const blocks = [
  'a\nb',
  'a\nb\n',
  '#!/bin/sh\nset -e\n\nexec x\n',
  'x\n\n\n',
  '  in\nout\n',
  'key: value\nlist:\n  - a\n',
  '\nlead',
  'a  \nb',
  '\t\tx\ny\n',
  '# c\n# d\n',
  '---\nx: 1\n',
];
const names = [
  'name',
  'key',
  'value',
  'image',
  'labels',
  'spec',
  'data',
  'args',
  'env',
  'ports',
  'on',
  '8080',
  'a.b/c',
  'with space',
  '"',
  'x:y',
  'é',
  'containerPort',
  'finalizer',
  '-',
  'app.kubernetes.io/name',
];

export function randomScalar(roll: Dice): JsonValue {
  const kind = roll();
  if (kind < 0.5) return pick(roll, words);
  if (kind < 0.65) return pick(roll, blocks);
  if (kind < 0.8) return Math.floor(roll() * 2000) - 1000;
  if (kind < 0.9) return roll() < 0.5;
  if (kind < 0.93) return 9223372036854775807n;
  return kind < 0.97 ? roll() * 100 : `${Math.floor(roll() * 1e6)}m`;
}

export function randomValue(roll: Dice, depth: number): JsonValue {
  const kind = roll();
  if (depth <= 0 || kind < 0.45) return randomScalar(roll);
  if (kind < 0.75) return randomMap(roll, depth - 1);
  const length = Math.floor(roll() * 5);
  const isNamed = roll() < 0.5;
  return Array.from({ length }, (_, at) => {
    if (!isNamed) return randomValue(roll, depth - 1);
    return { name: `item-${at}`, ...randomMap(roll, depth - 2) };
  });
}

export function randomMap(roll: Dice, depth: number): JsonObject {
  const map = Object.create(null) as Record<string, JsonValue>;
  const size = Math.floor(roll() * 5);
  for (let at = 0; at < size; at += 1) map[pick(roll, names)] = randomValue(roll, depth);
  return map;
}

export function randomObject(roll: Dice): JsonObject {
  return {
    apiVersion: pick(roll, ['v1', 'apps/v1', 'example.test/v1']),
    kind: pick(roll, ['ConfigMap', 'Deployment', 'Widget']),
    metadata: { name: 'subject', ...(roll() < 0.5 ? { namespace: 'shop' } : {}) },
    ...randomMap(roll, 4),
  };
}

/** One to `most` changes, anywhere. */
export function mutated(roll: Dice, object: JsonObject, most = 3): JsonObject {
  let result = structuredClone(object) as JsonObject;
  const times = 1 + Math.floor(roll() * most);
  for (let at = 0; at < times; at += 1) result = mutate(roll, result, true) as JsonObject;
  return result;
}

function mutate(roll: Dice, value: JsonValue, isRoot: boolean): JsonValue {
  if (Array.isArray(value)) return mutateList(roll, value as readonly JsonValue[]);
  if (typeof value === 'object' && value !== null) {
    const map = Object.assign(Object.create(null) as Record<string, JsonValue>, value);
    const keys = Object.keys(map).filter((key) => !isRoot || !['apiVersion', 'kind', 'metadata'].includes(key));
    const kind = roll();
    const key = pick(roll, keys);
    if (keys.length > 0 && kind < 0.6) map[key] = mutate(roll, map[key] as JsonValue, false);
    else if (keys.length > 0 && kind < 0.8) delete map[key];
    else map[pick(roll, names)] = randomValue(roll, 2);
    return map;
  }
  return roll() < 0.85 ? randomScalar(roll) : randomValue(roll, 2);
}

function mutateList(roll: Dice, list: readonly JsonValue[]): JsonValue {
  const copy = [...list];
  const at = Math.floor(roll() * copy.length);
  const kind = roll();
  if (copy.length > 0 && kind < 0.4) copy[at] = mutate(roll, copy[at] as JsonValue, false);
  else if (copy.length > 0 && kind < 0.55) copy.splice(at, 1);
  else if (copy.length > 1 && kind < 0.75) copy.splice(Math.floor(roll() * copy.length), 0, ...copy.splice(at, 1));
  else copy.splice(at, 0, randomValue(roll, 2));
  return copy;
}

/** A document as people write them: every block and flow form, JSON text, comments, blank lines, odd indentation. */
export function humanYaml(roll: Dice, object: JsonObject): string {
  if (roll() < 0.06) return jsonText(roll, object);
  const writer = new Human(roll);
  writer.blankOrComment(0);
  writer.map(object, 0);
  writer.blankOrComment(0);
  return writer.lines.join('');
}

/** Dense, or spread over lines. */
function jsonText(roll: Dice, object: JsonObject): string {
  const isDense = roll() < 0.3;
  const lines = isDense ? undefined : { column: 0, step: pick(roll, [2, 2, 4]) };
  const encoded = encodeInFlow(object, { json: true, isDense, mapPadding: '', listPadding: '', lines });
  if (!encoded.ok) throw new Error(encoded.error.message);
  return `${encoded.value}\n`;
}

const isWords = /^[a-z]+(?: [a-z]+)+$/;

class Human {
  readonly lines: string[] = [];
  private readonly roll: Dice;
  private readonly chattiness: number;
  private count = 0;

  constructor(roll: Dice) {
    this.roll = roll;
    this.chattiness = roll() * 0.4;
  }

  blankOrComment(column: number): void {
    // A text that keeps its blank lines would take these for its own.
    const isKept = this.lines.at(-1)?.endsWith('\n\n') === true;
    if (!isKept && this.roll() < this.chattiness) this.lines.push('\n');
    if (this.roll() < this.chattiness) this.lines.push(`${' '.repeat(column)}# c${(this.count += 1)}: x\n`);
  }

  map(map: JsonObject, column: number, isPlaced = false): void {
    let isFirst = isPlaced;
    const keys = Object.keys(map).sort(() => this.roll() - 0.5);
    for (const key of keys) {
      if (!isFirst) this.blankOrComment(column);
      const text = this.quoted(key, false);
      const isExplicit = this.roll() < 0.02;
      this.lines.push(`${isFirst ? '' : ' '.repeat(column)}${isExplicit ? '? ' : ''}${text}`);
      if (isExplicit) {
        this.endLine();
        this.lines.push(`${' '.repeat(column)}:`);
      } else this.lines.push(this.roll() < 0.03 ? ' :' : ':');
      isFirst = false;
      this.value(map[key] as JsonValue, column, isExplicit);
    }
  }

  private value(value: JsonValue, column: number, isItem: boolean): void {
    const roll = this.roll();
    if (Array.isArray(value)) {
      if (value.length === 0 || roll < 0.2) return this.flow(value, column);
      if (isItem && roll < 0.6) {
        this.lines.push(' ');
        return this.list(value, column + 2, true);
      }
      this.endLine();
      return this.list(value, column + (isItem ? 2 : pick(this.roll, [0, 2, 4])), false);
    }
    if (typeof value === 'object' && value !== null) {
      if (Object.keys(value).length === 0 || roll < 0.2) return this.flow(value, column);
      if (isItem && roll < 0.9) {
        const width = pick(this.roll, [1, 1, 1, 3]);
        this.lines.push(' '.repeat(width));
        return this.map(value as JsonObject, column + 1 + width, true);
      }
      this.endLine();
      return this.map(value as JsonObject, column + pick(this.roll, [1, 2, 2, 4]));
    }
    if (typeof value === 'string' && isLiteralSafe(value) && (value.includes('\n') || (roll < 0.1 && value !== '')))
      return this.literal(value, column);
    if (typeof value === 'string' && isWords.test(value) && roll < 0.4) return this.overLines(value, column);
    const text = typeof value === 'string' ? this.quoted(value, false) : String(value);
    if (roll > 0.95 && !isItem) this.lines.push(`\n${' '.repeat(column + 3)}${text}`);
    else this.lines.push(`${' '.repeat(pick(this.roll, [1, 1, 1, 4]))}${text}`);
    this.endLine(true);
  }

  private list(list: readonly JsonValue[], column: number, isPlaced: boolean): void {
    list.forEach((item, at) => {
      const isOnLine = isPlaced && at === 0;
      if (!isOnLine) this.blankOrComment(column);
      this.lines.push(`${isOnLine ? '' : ' '.repeat(column)}-`);
      this.value(item, column, true);
    });
  }

  private literal(text: string, column: number): void {
    const { needsIndent, chomp } = literalIndicators(text);
    const width = pick(this.roll, [1, 2, 2, 4]);
    this.lines.push(` |${needsIndent || this.roll() < 0.1 ? width : ''}${chomp}`);
    this.endLine();
    const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
    this.lines.push(lines.map((line) => (line === '' ? '\n' : `${' '.repeat(column + width)}${line}\n`)).join(''));
  }

  /** Folded, plain or in quotes. */
  private overLines(text: string, column: number): void {
    const indent = ' '.repeat(column + pick(this.roll, [1, 2, 4]));
    const lines = text.split(' ').join(`\n${indent}`);
    const roll = this.roll();
    if (roll < 0.4) {
      this.lines.push(` >-`);
      this.endLine();
      this.lines.push(`${indent}${lines}\n`);
      return;
    }
    this.lines.push(roll < 0.6 ? ` "${lines}"` : roll < 0.8 ? ` '${lines}'` : ` ${lines}`);
    this.endLine();
  }

  /** Brackets over several lines, with the comments they may hold. */
  private spread(value: JsonValue, column: number): void {
    const isList = Array.isArray(value);
    const entries = isList
      ? (value as readonly JsonValue[]).map((item) => this.inBrackets(item))
      : Object.entries(value as JsonObject).map(([key, item]) => `${this.inBrackets(key)}: ${this.inBrackets(item)}`);
    const indent = column + pick(this.roll, [2, 2, 4]);
    this.lines.push(isList ? ' [' : ' {');
    this.endLine();
    entries.forEach((entry, at) => {
      this.blankOrComment(indent);
      const isLast = at === entries.length - 1;
      this.lines.push(`${' '.repeat(indent)}${entry}${!isLast || this.roll() < 0.4 ? ',' : ''}`);
      if (isLast || this.roll() < 0.8) this.endLine();
      else this.lines.push(' \n');
    });
    this.blankOrComment(indent);
    this.lines.push(`${' '.repeat(column + 1)}${isList ? ']' : '}'}`);
    this.endLine();
  }

  private inBrackets(value: JsonValue): string {
    const encoded = encodeInFlow(value, { json: this.roll() < 0.2, mapPadding: '', listPadding: '' });
    if (!encoded.ok) throw new Error(encoded.error.message);
    return encoded.value;
  }

  private flow(value: JsonValue, column: number): void {
    const roll = this.roll();
    const isEmpty = Object.keys(value as object).length === 0;
    if (!isEmpty && this.roll() < 0.3) return this.spread(value, column);
    const encoded = encodeInFlow(value, { json: roll < 0.3, mapPadding: roll < 0.6 ? ' ' : '', listPadding: '' });
    if (!encoded.ok) throw new Error(encoded.error.message);
    this.lines.push(` ${encoded.value}`);
    this.endLine();
  }

  private quoted(text: string, inFlow: boolean): string {
    const styles = (['plain', 'plain', 'single', 'double'] as const).map((style) => encodeQuoted(text, style, inFlow));
    const found = pick(
      this.roll,
      styles.filter((each) => each !== undefined),
    );
    return text.includes('\n') || text.length > 100 ? JSON.stringify(text) : found;
  }

  private endLine(isBehindText = false): void {
    // No tab where a block may begin: libyaml takes it for indentation.
    const gap = pick(this.roll, [' ', ' ', '   ', isBehindText ? '\t' : ' ']);
    this.lines.push(this.roll() < this.chattiness ? `${gap}# t${(this.count += 1)}\n` : '\n');
  }
}
