import { echoOf, withEcho } from './echo.js';

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

it('rides along with copies, unseen by whoever reads JSON', () => {
  const echoing = withEcho(object, { finalizers: ['a.test/f'] });
  const copy = { ...echoing, data: {} };

  expect(echoOf(copy)).toEqual({ finalizers: ['a.test/f'] });
  expect(JSON.stringify(echoing)).toBe(JSON.stringify(object));
  expect(Object.keys(echoing)).toEqual(Object.keys(object));
});

it('is unknown unless somebody said it', () => {
  expect(echoOf(object)).toBeUndefined();
});

it('what is echoed later stands beside what was echoed before', () => {
  const echoing = withEcho(withEcho(object, { listKeys: { 'spec/routes': ['path'] } }), { finalizers: [] });

  expect(echoOf(echoing)).toEqual({ listKeys: { 'spec/routes': ['path'] }, finalizers: [] });
});
