import { appFiles, filesOfApp } from './manifests.js';
import { filesOfUnit, unitFiles } from './mixed-repository.js';

it('an application is ten files with eleven documents of their own', () => {
  const files = [...appFiles(0), ...appFiles(1)];

  expect(files).toHaveLength(2 * filesOfApp);
  expect(new Set(files.flatMap(({ identities }) => identities.map((each) => JSON.stringify(each)))).size).toBe(22);
});

it('a unit has as many files as it says, and shares no path with another one', () => {
  const paths = [...unitFiles(0), ...unitFiles(1)].map(({ path }) => path);

  expect(new Set(paths).size).toBe(2 * filesOfUnit);
});
