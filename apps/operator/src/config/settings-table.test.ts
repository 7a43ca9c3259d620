import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { settingsTable } from './settings-table.js';

/** What a formatter does to a table does not count. */
const bare = (text: string): string =>
  text
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replaceAll(/\s*(?<!\\)\|\s*/g, '|')
        .replaceAll(/-{3,}/g, '---'),
    )
    .join('\n');

it('the README shows every setting as it is; paste the expected table when this fails', async () => {
  const readme = await readFile(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');

  expect(bare(readme)).toContain(bare(settingsTable()));
});
