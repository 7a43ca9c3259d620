import { parseDocuments } from '@gitops-reverser/toolkit-yaml';

import { deployments, toFile, toObject } from './deployments.js';

const all = deployments(40);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

it('the file holds each object once, in order', () => {
  const read = parseDocuments(toFile(all));

  expect(read.ok && read.value.map((document) => document.state === 'read' && plain(document.value))).toEqual(
    all.map(toObject),
  );
});

it.each([
  { field: 'replicas', edit: { replicas: 9 } },
  { field: 'tag', edit: { tag: '9.9.9' } },
])('one other $field is one other line', ({ edit }) => {
  const before = toFile(all).split('\n');
  const after = toFile(all.map((each) => (each.index === 17 ? { ...each, ...edit } : each))).split('\n');

  expect(after).toHaveLength(before.length);
  expect(after.filter((line, at) => line !== before[at])).toHaveLength(1);
});

it('the long file of the bench has the size of the one in the design', () => {
  expect(Math.round(toFile(deployments(1_000)).length / 1000)).toBeCloseTo(481, -2);
});
