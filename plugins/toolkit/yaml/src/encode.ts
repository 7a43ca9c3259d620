import { ok, refuse, type JsonValue, type Result } from '@gitops-reverser/kernel-api';
import { rootKeys, sortedKeys } from './key-order.js';
import { maxDepth } from './limits.js';
import { isMisreadWhenPlain } from './plain-scalar.js';
import type { YamlProblem } from './problem.js';

/**
 * The one style (chapter 20, 4.3), for everything that is ever written: equal values give equal bytes.
 * Written by hand because it runs for every object of a snapshot and must sort, quote and fold exactly so.
 *
 * @returns the text of one document, ending in a line feed, or what cannot be represented and where
 */
export function encodeYaml(value: JsonValue): Result<string, YamlProblem> {
  return emitted((emitter) => {
    emitter.root(value);
  }, theStyle);
}

/** Several documents of one file, joined by `---`. */
export function encodeYamlDocuments(values: readonly JsonValue[]): Result<string, YamlProblem> {
  const texts: string[] = [];
  for (const value of values) {
    const encoded = encodeYaml(value);
    if (!encoded.ok) return encoded;
    texts.push(encoded.value);
  }
  return ok(texts.join('---\n'));
}

/** One scalar on one line, as a key or inside a flow collection would hold it. */
export function encodeKey(text: string): string {
  return inlineString(text);
}

/** How a document indents; what is inserted into it does the same. */
export interface BlockStyle {
  /** Columns from a key to the keys below it. */
  readonly step: number;
  /** Columns from a key to the dashes below it. */
  readonly dash: number;
  /** Columns from a dash to what it holds. */
  readonly dashWidth: number;
}
const theStyle: BlockStyle = { step: 2, dash: 2, dashWidth: 2 };

/**
 * What follows `key:` at column `column`, its line end included; several lines when the value needs them. With `of: 'item'` what
 * follows a dash at that column.
 */
export function encodeValueAt(
  value: JsonValue,
  at: { readonly of: 'key' | 'item'; readonly column: number; readonly depth: number; readonly style: BlockStyle },
): Result<string, YamlProblem> {
  return emitted((emitter) => {
    if (at.of === 'item') emitter.item(value, at.column, at.depth);
    else emitter.value(value, at.column, at.depth, at.style.step);
  }, at.style);
}

/** How what stands in brackets is written. */
export interface FlowStyle {
  /** With quotes around every string. */
  readonly json: boolean;
  /** Inside the brackets. */
  readonly mapPadding: string;
  readonly listPadding: string;
  /** No blank behind colons and commas. */
  readonly isDense?: boolean;
  /** Every entry on a line of its own, `step` columns further in than what holds it, which stands at `column`. */
  readonly lines?: { readonly column: number; readonly step: number } | undefined;
}

/** One value as brackets hold it, on one line unless the style says otherwise. */
export function encodeInFlow(value: JsonValue, style: FlowStyle): Result<string, YamlProblem> {
  return emitted((emitter) => {
    emitter.flow(value, style, 1);
  }, theStyle);
}

function emitted(emit: (emitter: Emitter) => void, style: BlockStyle): Result<string, YamlProblem> {
  const emitter = new Emitter(style);
  try {
    emit(emitter);
  } catch (error) {
    if (!(error instanceof Unrepresentable)) throw error;
    return refuse({ code: 'unrepresentable-value', message: `cannot write ${error.pointer}: ${error.message}` });
  }
  return ok(emitter.out);
}

class Unrepresentable extends Error {
  pointer = '';
  constructor(what: string) {
    super(what);
  }
}

// A reader may refuse an implicit key beyond 1024 characters; longer ones are written with `? `.
const longestImplicitKey = 1000;
const spaces = Array.from({ length: 2 * maxDepth + 4 }, (_, length) => ' '.repeat(length));
const pad = (length: number): string => spaces[length] ?? ' '.repeat(length);

class Emitter {
  out = '';
  private readonly style: BlockStyle;

  constructor(style: BlockStyle) {
    this.style = style;
  }

  root(value: JsonValue): void {
    if (isMap(value)) {
      const keys = rootKeys(value);
      if (keys.length === 0) this.out += '{}\n';
      else this.map(value, keys, 0, 1);
    } else if (Array.isArray(value)) {
      if (value.length === 0) this.out += '[]\n';
      else this.list(value, 0, 1, true);
    } else if (typeof value === 'string' && value.includes('\n') && !isLiteralSafeAtRoot(value)) {
      this.out += `${doubleQuoted(value)}\n`;
    } else {
      this.out += scalarLines(value, 0, 2);
    }
  }

  /** Entries at column `indent`; the caller has moved there already for the first one. */
  private map(map: object, keys: readonly string[], indent: number, depth: number): void {
    checkDepth(depth);
    let isFirst = true;
    for (const key of keys) {
      if (!isFirst) this.out += pad(indent);
      isFirst = false;
      const text = inlineString(key);
      this.out += text.length > longestImplicitKey ? `? ${text}\n${pad(indent)}:` : `${text}:`;
      try {
        this.value((map as Record<string, JsonValue>)[key] as JsonValue, indent, depth, this.style.step);
      } catch (error) {
        if (error instanceof Unrepresentable) error.pointer = `/${escapePointer(key)}${error.pointer}`;
        throw error;
      }
    }
  }

  /** What follows `key:` or `-`, its line end included; children go `step` columns further in. */
  value(value: JsonValue, indent: number, depth: number, step: number): void {
    if (typeof value === 'object' && value !== null) {
      if (Array.isArray(value)) {
        if (value.length === 0) this.out += ' []\n';
        else {
          this.out += '\n';
          this.list(value, indent + this.style.dash, depth + 1, false);
        }
        return;
      }
      if (!isMap(value)) throw new Unrepresentable('expected a plain object, found an instance of a class');
      const keys = sortedKeys(value);
      if (keys.length === 0) {
        this.out += ' {}\n';
        return;
      }
      this.out += `\n${pad(indent + step)}`;
      this.map(value, keys, indent + step, depth + 1);
      return;
    }
    this.out += ' ';
    this.out += scalarLines(value, indent, step);
  }

  private list(list: readonly JsonValue[], indent: number, depth: number, isPlaced: boolean): void {
    checkDepth(depth);
    for (let at = 0; at < list.length; at += 1) {
      this.out += isPlaced && at === 0 ? '-' : `${pad(indent)}-`;
      try {
        this.item(list[at] as JsonValue, indent, depth);
      } catch (error) {
        if (error instanceof Unrepresentable) error.pointer = `/${at}${error.pointer}`;
        throw error;
      }
    }
  }

  /** A collection starts on the dash line itself. */
  item(value: JsonValue, indent: number, depth: number): void {
    const { dashWidth } = this.style;
    if (Array.isArray(value) && value.length > 0) {
      this.out += pad(dashWidth - 1);
      this.list(value, indent + dashWidth, depth + 1, true);
      return;
    }
    if (isMap(value)) {
      const keys = sortedKeys(value);
      if (keys.length > 0) {
        this.out += pad(dashWidth - 1);
        this.map(value, keys, indent + dashWidth, depth + 1);
        return;
      }
    }
    this.out += pad(dashWidth - 2);
    this.value(value, indent, depth, dashWidth);
  }

  flow(value: JsonValue, style: FlowStyle, depth: number): void {
    checkDepth(depth);
    if (Array.isArray(value)) {
      this.bracketed('[]', value as readonly JsonValue[], style.listPadding, style, depth, (item) => {
        this.flow(item, style, depth + 1);
      });
    } else if (isMap(value)) {
      this.bracketed('{}', sortedKeys(value), style.mapPadding, style, depth, (key) => {
        this.out += `${flowString(key, style.json)}:${style.isDense === true ? '' : ' '}`;
        this.flow((value as Record<string, JsonValue>)[key] as JsonValue, style, depth + 1);
      });
    } else if (typeof value === 'string') this.out += flowString(value, style.json);
    else this.out += scalarLines(value, 0, 2).slice(0, -1);
  }

  private bracketed<T>(
    brackets: string,
    entries: readonly T[],
    padding: string,
    { isDense, lines }: FlowStyle,
    depth: number,
    emit: (entry: T) => void,
  ): void {
    if (entries.length === 0) {
      this.out += brackets;
      return;
    }
    const lineAt = (level: number): string =>
      lines === undefined ? '' : `\n${' '.repeat(lines.column + lines.step * level)}`;
    const gap = lines !== undefined ? lineAt(depth) : isDense === true ? '' : ' ';
    this.out += `${brackets.charAt(0)}${lines === undefined ? padding : lineAt(depth)}`;
    entries.forEach((entry, at) => {
      if (at > 0) this.out += `,${gap}`;
      emit(entry);
    });
    this.out += `${lines === undefined ? padding : lineAt(depth - 1)}${brackets.charAt(1)}`;
  }
}

/** Within brackets; one YAML 1.1 reader also stops at a question mark. */
const flowIndicator = /[,[\]{}?]/;

function flowString(text: string, json: boolean): string {
  if (json) return doubleQuoted(text);
  const inline = inlineString(text);
  return inline === text && flowIndicator.test(text) ? `'${text.replaceAll("'", "''")}'` : inline;
}

function checkDepth(depth: number): void {
  if (depth > maxDepth) throw new Unrepresentable(`nested deeper than ${maxDepth}`);
}

/** Any realm's plain object, or one without prototype. */
function isMap(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function scalarLines(value: JsonValue, indent: number, step: number): string {
  switch (typeof value) {
    case 'string':
      return value.includes('\n') && isLiteralSafe(value) ? literal(value, indent, step) : `${inlineString(value)}\n`;
    case 'number':
      if (!Number.isFinite(value)) throw new Unrepresentable(`${String(value)} is not a JSON number`);
      return `${numberText(value)}\n`;
    case 'bigint':
    case 'boolean':
      return `${String(value)}\n`;
    case 'object':
      if (value === null) return 'null\n';
      throw new Unrepresentable('expected a plain object, found an instance of a class');
    default:
      throw new Unrepresentable(`expected a JSON value, found ${typeof value}`);
  }
}

/** JSON text; an integer that a reader will take digit by digit is given with its exact ones, not the shortest. */
function numberText(value: number): string {
  const text = JSON.stringify(value);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !text.includes('e')
    ? BigInt(value).toString()
    : text;
}

/** Cheap test that also hits every surrogate pair; the exact one runs only on a hit. */
const maybeUnprintable = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]/;
const unprintable = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\p{Surrogate}]/u;
const isUnprintable = (text: string): boolean => maybeUnprintable.test(text) && unprintable.test(text);

/** A last line of blanks without a line feed would be lost. */
const endsInBlankLine = /\n[ \t]+$/;
/** Readers disagree on whether lines of nothing but blanks are content. */
const isBlank = /^\n*[ \t][ \t\n]*$/;
/** With an indentation indicator they also disagree on blank lines at the end. */
const isIndentedWithBlankEnd = /^\n*[ \t][^]*\n[ \t]+\n+$/;
/** Kustomize refuses a block whose first line starts with a tab, with an indicator too. */
export const isLiteralSafe = (text: string): boolean =>
  text.charCodeAt(0) !== 0x09 &&
  !isUnprintable(text) &&
  !endsInBlankLine.test(text) &&
  !isBlank.test(text) &&
  !isIndentedWithBlankEnd.test(text);
/** Readers disagree on the meaning of an indentation indicator at the root. */
const isLiteralSafeAtRoot = (text: string): boolean => isLiteralSafe(text) && !/^\n*[ \t]/.test(text);

/** The indicators of a literal block: whether its indentation must be named, and what its end means. */
export function literalIndicators(text: string): { readonly needsIndent: boolean; readonly chomp: '' | '-' | '+' } {
  let firstNonEmpty = 0;
  while (text.charCodeAt(firstNonEmpty) === 0x0a) firstNonEmpty += 1;
  const first = text.charCodeAt(firstNonEmpty);
  // A tab behind empty lines needs the indicator as well: libyaml takes it for indentation otherwise.
  const needsIndent = first === 0x20 || first === 0x09;
  const chomp = !text.endsWith('\n') ? '-' : firstNonEmpty === text.length || text.endsWith('\n\n') ? '+' : '';
  return { needsIndent, chomp };
}

function literal(text: string, parentIndent: number, step: number): string {
  const { needsIndent, chomp } = literalIndicators(text);
  const indent = pad(parentIndent + step);
  let out = `|${needsIndent ? step : ''}${chomp}\n`;
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf('\n', start);
    if (end === -1) end = text.length;
    out += end === start ? '\n' : `${indent}${text.slice(start, end)}\n`;
    start = end + 1;
  }
  return out;
}

/** In the style that was there, if it can hold the text; `undefined` otherwise. */
export function encodeQuoted(text: string, style: 'plain' | 'single' | 'double', inFlow: boolean): string | undefined {
  if (style === 'double') return doubleQuoted(text);
  if (text.includes('\n') || isUnprintable(text)) return undefined;
  if (style === 'single') return `'${text.replaceAll("'", "''")}'`;
  if (isMisreadWhenPlain(text) || clashesWithSyntax(text)) return undefined;
  return inFlow && flowIndicator.test(text) ? undefined : text;
}

function inlineString(text: string): string {
  if (text.includes('\n') || isUnprintable(text) || isMisreadWhenPlain(text)) return doubleQuoted(text);
  return clashesWithSyntax(text) ? `'${text.replaceAll("'", "''")}'` : text;
}

/** A tab is legal inside, yet the YAML 1.1 reader of Python stops at it. */
const syntaxInside = /:(?: |$)| #| $|\t/;
const documentMarker = /^(?:---|\.\.\.)(?:[ \t]|$)/;

function clashesWithSyntax(text: string): boolean {
  switch (text.charCodeAt(0)) {
    case 0x2d: // -
    case 0x3f: // ?
    case 0x3a: {
      // :
      const next = text.charCodeAt(1);
      if (Number.isNaN(next) || next === 0x20 || next === 0x09) return true;
      break;
    }
    case 0x20:
    case 0x09:
    case 0x21: // !
    case 0x22: // "
    case 0x23: // #
    case 0x25: // %
    case 0x26: // &
    case 0x27: // '
    case 0x2a: // *
    case 0x2c: // ,
    case 0x3e: // >
    case 0x40: // @
    case 0x5b: // [
    case 0x5d: // ]
    case 0x60: // `
    case 0x7b: // {
    case 0x7c: // |
    case 0x7d: // }
      return true;
  }
  return syntaxInside.test(text) || documentMarker.test(text);
}

const escaped = /["\\\0-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\p{Surrogate}]/gu;
const shortEscapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function doubleQuoted(text: string): string {
  const inner = text.replace(
    escaped,
    (char) => shortEscapes.get(char) ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${inner}"`;
}
