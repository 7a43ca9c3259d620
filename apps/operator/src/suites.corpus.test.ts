import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpusFolder } from '@gitops-reverser/kernel-testing';
import { parseFirst } from './corpus.fixture.js';

/** Suites with a runner, here or in the package that owns what they are about. */
const run = ['context', 'e2e', 'inplace', 'layouts', 'placement', 'report', 'sanitizer', 'scan-repo'];

const index = join(corpusFolder(), 'index.yaml');
const isThere = existsSync(index);
if (!isThere)
  process.stderr.write(`SKIPPED: no corpus at ${corpusFolder()}; set CORPUS_DIR to the folder that holds it\n`);

(isThere ? it : it.skip)('every entry of the corpus names its case and its suite, once', () => {
  const { cases } = parseFirst(readFileSync(index)) as unknown as {
    readonly cases: readonly { readonly path: string; readonly suite: string }[];
  };
  const paths = cases.map(({ path }) => path);
  const others = [...new Set(cases.map(({ suite }) => suite))].filter((suite) => !run.includes(suite));
  if (others.length > 0) process.stderr.write(`NOT RUN: corpus suite(s) ${others.sort().join(', ')}\n`);
  const listed = new Set(paths.map((path) => path.replace(/#.*$/, '')));
  for (const suite of ['context', 'inplace', 'report', 'scan-repo']) {
    const folder = join(corpusFolder(), suite);
    for (const name of existsSync(folder) ? readdirSync(folder) : [])
      if (!listed.has(`${suite}/${name}`)) process.stderr.write(`NOT RUN: ${suite}/${name} is not in the index\n`);
  }

  expect(cases.filter(({ path, suite }) => typeof path !== 'string' || typeof suite !== 'string')).toEqual([]);
  expect(paths.filter((path, at) => paths.indexOf(path) !== at)).toEqual([]);
});
