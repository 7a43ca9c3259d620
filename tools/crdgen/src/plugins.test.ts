import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pluginFiles, plugins } from './plugins.js';

const folder = resolve(import.meta.dirname, '../../../plugins');

it('knows every plugin of the repository', () => {
  const found = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'package.json')));

  expect(plugins.map(({ id }) => id).sort()).toEqual(found.sort());
});

it('names every option and every reason of every plugin', () => {
  const [page] = pluginFiles();

  for (const { options, reasons, refusals } of plugins) {
    const refused = new Set(Object.keys(refusals));
    for (const name of [...Object.keys(options), ...Object.keys(reasons).filter((each) => !refused.has(each))])
      expect(page?.text).toContain(`| \`${name}\` |`);
  }
});
