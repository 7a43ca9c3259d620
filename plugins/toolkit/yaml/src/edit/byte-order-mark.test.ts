import type { JsonObject } from '@gitops-reverser/kernel-api';
import { editDocument, openText, type Edited } from '../index.js';

const first = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n';
const second = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\ndata: # kept\n  k: a # kept\n';
const two: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'two' }, data: { k: 'a' } };

function edited(text: string, index: number, desired: JsonObject): Edited {
  const file = openText(text);
  if (!file.ok) throw new Error(file.error.message);
  const result = editDocument(file.value, index, desired);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe('FC-YML-8: a byte order mark stays where it is', () => {
  it.each([
    ['at the start', `\ufeff${second}`, 0],
    ['before a separator', `\ufeff---\n${second}`, 0],
    ['behind a separator, where files were joined', `${first}---\n\ufeff${second}`, 1],
    ['behind a separator with Windows line ends', `${first}---\n\ufeff${second}`.replaceAll('\n', '\r\n'), 1],
  ])('%s', (_, text, index) => {
    const { outcome, text: after, document } = edited(text, index, { ...two, data: { k: 'b' } });

    expect(after).toBe(text.replace('k: a', 'k: b'));
    expect(after.endsWith(document)).toBe(true);
    expect(outcome).toBe('patched');
    expect(edited(text, index, two)).toMatchObject({ outcome: 'unchanged', text });
  });

  it('also when the document is written anew', () => {
    const text = `${first}---\n\ufeff{apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: [a]}\n`;

    expect(edited(text, 1, two).text.startsWith(`${first}---\n\ufeff`)).toBe(true);
  });
});
