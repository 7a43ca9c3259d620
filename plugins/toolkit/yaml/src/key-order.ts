/** Orders strings by Unicode code point; the built-in order is by UTF-16 unit and differs above U+D7FF. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Lifts surrogates above U+E000..U+FFFF, where the code points they spell belong. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x10000 : unit;
}

const aboveSurrogates = /[\ud800-\uffff]/;

export function sortedKeys(object: object): string[] {
  const keys = Object.keys(object);
  if (keys.length < 2) return keys;
  return keys.some((key) => aboveSurrogates.test(key)) ? keys.sort(compareCodePoints) : keys.sort();
}

const leading = ['apiVersion', 'kind', 'metadata'];

/** `apiVersion`, `kind`, `metadata`, then the rest sorted. */
export function rootKeys(object: object): string[] {
  const keys = sortedKeys(object);
  const first = leading.filter((key) => Object.hasOwn(object, key));
  return first.length === 0 ? keys : [...first, ...keys.filter((key) => !leading.includes(key))];
}
