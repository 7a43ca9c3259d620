import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findDrift, mend, type GeneratedFile } from './generated-file.js';
import { generatedFiles } from './generated-files.js';

const root = resolve(import.meta.dirname, '../../..');

it('what is committed is what the declarations give: run npm run generate', async () => {
  expect(await findDrift(root, generatedFiles())).toEqual([]);
});

it('gives a CRD and a page for each of the ten kinds, an index, the refusals and the plugins', () => {
  const paths = generatedFiles().map(({ path }) => path);

  expect(paths.filter((path) => path.startsWith('crds/manifests/'))).toHaveLength(10);
  expect(paths.filter((path) => path.startsWith('docs/reference/'))).toHaveLength(13);
});

it('gives the same bytes every time', () => {
  expect(generatedFiles()).toEqual(generatedFiles());
});

describe('drift', () => {
  const mark = '# Generated from crds/types by `npm run generate`. Do not edit.\n';
  const files: readonly GeneratedFile[] = [{ path: 'a/one.yaml', text: `${mark}one\n` }];
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crdgen-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('is found when a file is missing, and mended', async () => {
    const drifts = await findDrift(folder, files);
    await mend(folder, files, drifts);

    expect(drifts).toEqual([{ path: 'a/one.yaml', found: 'missing' }]);
    expect(await findDrift(folder, files)).toEqual([]);
  });

  it('is found when a file was edited by hand', async () => {
    await mend(folder, files, await findDrift(folder, files));
    await writeFile(join(folder, 'a/one.yaml'), 'mine\n');

    expect(await findDrift(folder, files)).toEqual([{ path: 'a/one.yaml', found: 'stale' }]);
  });

  it('takes away what nothing generates any more, and leaves other files alone', async () => {
    await mend(folder, files, await findDrift(folder, files));
    await writeFile(join(folder, 'a/old.yaml'), `${mark}old\n`);
    await writeFile(join(folder, 'a/own.md'), 'somebody wrote this\n');

    const drifts = await findDrift(folder, files);
    await mend(folder, files, drifts);

    expect(drifts).toEqual([{ path: 'a/old.yaml', found: 'orphaned' }]);
    expect(await readFile(join(folder, 'a/own.md'), 'utf8')).toBe('somebody wrote this\n');
    await expect(readFile(join(folder, 'a/old.yaml'))).rejects.toThrow('ENOENT');
  });
});
