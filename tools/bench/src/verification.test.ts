import { configMaps, keyOf } from './config-maps.js';
import { compareContent } from './verification.js';

const [one, two] = configMaps(2, 1);
if (one === undefined || two === undefined) throw new Error('two objects were asked for');
const expected = new Map([one, two].map((object) => [keyOf(object), object]));
const text = (object: unknown): string => JSON.stringify(object);
const whole = { 'a.yaml': text(one), 'b.yaml': text(two) };

it('is content with every object in its file, in whatever style', () => {
  const yaml = `# by hand\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ${two.metadata.namespace}, name: ${two.metadata.name}}\ndata: ${text(two.data)}\n`;

  expect(compareContent(expected, new Map(Object.entries({ ...whole, 'b.yaml': yaml })))).toEqual([]);
});

it.each([
  { why: 'a missing object', files: { 'a.yaml': text(one) }, problem: `${keyOf(two)} is in no file` },
  {
    why: 'an object twice',
    files: { ...whole, 'c.yaml': text(one) },
    problem: `c.yaml holds ${keyOf(one)} a second time`,
  },
  {
    why: 'another value',
    files: { ...whole, 'a.yaml': text({ ...one, data: {} }) },
    problem: `a.yaml differs from ${keyOf(one)}`,
  },
  {
    why: 'a field too many',
    files: { ...whole, 'a.yaml': text({ ...one, immutable: false }) },
    problem: `a.yaml differs from ${keyOf(one)}`,
  },
  {
    why: 'an object that was never there',
    files: { ...whole, 'c.yaml': text({ ...one, metadata: { ...one.metadata, name: 'ghost' } }) },
    problem: `c.yaml holds ${one.metadata.namespace}/ghost, which does not exist`,
  },
  {
    why: 'a broken file',
    files: { ...whole, 'c.yaml': 'a: [' },
    problem: 'c.yaml holds a document that is not readable',
  },
])('finds $why', ({ files, problem }) => {
  expect(compareContent(expected, new Map(Object.entries(files)))).toContain(problem);
});

it("objects of the cluster's own do not matter", () => {
  const files = { ...whole, 'c.yaml': text({ ...one, metadata: { name: 'x', namespace: 'kube-system' } }) };

  expect(compareContent(expected, new Map(Object.entries(files)))).toEqual([]);
});
