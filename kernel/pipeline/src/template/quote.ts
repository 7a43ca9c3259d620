const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Go's `unicode.IsPrint`. */
const isPrintable = (character: string): boolean => PRINTABLE.test(character);

const ESCAPES = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
]);
const hex = (point: number, width: number): string => point.toString(16).padStart(width, '0');

/** Go's `strconv.Quote`, or with `isAscii` its `QuoteToASCII`. */
export function quote(text: string, delimiter: '"' | "'" = '"', isAscii = false): string {
  let out = delimiter as string;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const known = ESCAPES.get(character);
    if (character === delimiter) out += `\\${delimiter}`;
    else if (known !== undefined) out += known;
    else if (isAscii ? point < 0x7f && isPrintable(character) : isPrintable(character)) out += character;
    else if (point < 0x20 || point === 0x7f) out += `\\x${hex(point, 2)}`;
    else out += point < 0x1_0000 ? `\\u${hex(point, 4)}` : `\\U${hex(point, 8)}`;
  }
  return out + delimiter;
}

/** Go's `strconv.CanBackquote`. */
export const canBackquote = (text: string): boolean => !/[\u0000-\u0008\u000a-\u001f\u007f`\ufeff]/.test(text);

const HTML = new Map([
  ['\0', '\uFFFD'],
  ['"', '&#34;'],
  ["'", '&#39;'],
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);
export const escapeHtml = (text: string): string =>
  text.replace(/[\0"'&<>]/g, (character) => HTML.get(character) ?? character);

export function escapeJs(text: string): string {
  let out = '';
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if ('\\\'"'.includes(character)) out += `\\${character}`;
    else if ('<>&='.includes(character) || point < 0x20) out += `\\u${hex(point, 4).toUpperCase()}`;
    else if (point < 0x80 || isPrintable(character)) out += character;
    else out += `\\u${hex(point, 4).toUpperCase()}`;
  }
  return out;
}

export const escapeQuery = (text: string): string =>
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'))
    .replace(/[!'()*]/g, (character) => `%${hex(character.charCodeAt(0), 2).toUpperCase()}`)
    .replaceAll('%20', '+');
