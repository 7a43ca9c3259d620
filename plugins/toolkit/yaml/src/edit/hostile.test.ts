import type { JsonObject } from '@gitops-reverser/kernel-api';
import { identifyDocuments, openText } from '../index.js';
import { editDocument } from './edit-document.js';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n';
const live: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: '1' } };

/** Generous: the limit of FC-SEC-1 is 100 ms a file. Of the processor's time: tests run many at a time. */
const mostMs = 2_000;

function timed<T>(act: () => T): T {
  const start = process.cpuUsage();
  const result = act();
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(mostMs);
  return result;
}

const edit = (text: string, wanted = live) => {
  const split = openText(text);
  return split.ok ? editDocument(split.value, 0, wanted) : split;
};

describe('FC-SEC-1: what is hostile is refused in bounded time', () => {
  const bomb = `${head}x0: &x0 [a, a]\n${Array.from({ length: 8 }, (_, at) => `x${at + 1}: &x${at + 1} [${`*x${at}, `.repeat(9)}]\n`).join('')}`;
  const cases: readonly (readonly [string, string, string])[] = [
    ['an alias bomb', bomb, 'non-editable'],
    ['20 000 open brackets', `${head}data: ${'['.repeat(20_000)}`, 'invalid-yaml'],
    [
      '5 000 nested maps',
      head + Array.from({ length: 5_000 }, (_, at) => `${' '.repeat(at)}a:\n`).join(''),
      'invalid-yaml',
    ],
    ['a scalar of 10 MiB', `${head}data: {k: "${'x'.repeat(10 * 1024 * 1024)}"}\n`, 'invalid-yaml'],
    ['100 000 separators', `${head}${'---\n'.repeat(100_000)}`, 'invalid-yaml'],
    ['a NUL byte', `${head}data: {k: "\0"}\n`, 'invalid-yaml'],
  ];

  it.each(cases)('%s', (_, text, code) => {
    expect(timed(() => edit(text))).toMatchObject({ ok: false, error: { code } });
    timed(() => identifyDocuments(text));
  });

  it('bytes that are no UTF-8', () => {
    expect(openText(new Uint8Array([0x61, 0xff, 0xfe]))).toMatchObject({ ok: false, error: { code: 'invalid-yaml' } });
  });

  it('a text over 100 MiB', () => {
    expect(timed(() => openText(new Uint8Array(101 * 1024 * 1024)))).toMatchObject({ ok: false });
  });
});

describe('what is large and honest is edited', () => {
  it('a list of ten thousand items, one in the middle and a swap', () => {
    const items = Array.from({ length: 10_000 }, (_, at) => `item-${at}`);
    const text = `${head}items:\n${items.map((item) => `- ${item}\n`).join('')}`;
    const wanted = [...items];
    wanted[5_000] = 'changed';
    wanted.splice(9_000, 2, 'item-9001', 'item-9000');
    const edited = timed(() => edit(text, { ...live, data: {}, items: wanted } as JsonObject));

    expect(edited).toMatchObject({ ok: true, value: { outcome: 'patched' } });
  });

  it('a map of ten thousand keys, all of them changed', () => {
    const keys = Array.from({ length: 10_000 }, (_, at) => `key-${at}`);
    const text = `${head}data:\n${keys.map((key) => `  ${key}: old # of ${key}\n`).join('')}`;
    const data = Object.fromEntries(keys.map((key) => [key, 'new']));
    const edited = timed(() => edit(text, { ...live, data }));

    expect(edited).toMatchObject({ ok: true, value: { text: text.replaceAll(': old #', ': new #') } });
  });

  it('sixty levels', () => {
    const text =
      head + Array.from({ length: 60 }, (_, at) => `${'  '.repeat(at)}a:\n`).join('') + `${'  '.repeat(60)}b: 1\n`;
    let value: JsonObject = { b: 2 };
    for (let at = 0; at < 60; at += 1) value = { a: value };
    const { data: _, ...rest } = live;

    expect(edit(text, { ...rest, ...value } as JsonObject)).toMatchObject({
      ok: true,
      value: { text: text.replace('b: 1', 'b: 2') },
    });
  });
});
