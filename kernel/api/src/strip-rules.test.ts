import { echoOf, withEcho } from './echo.js';
import type { KubeObject, ResourceType } from './model.js';
import {
  compileStripRules,
  createBookkeepingSanitizer,
  keyRules,
  noStripRules,
  withoutStripped,
  type Bookkeeping,
} from './strip-rules.js';

const gizmos: Bookkeeping = {
  strips: [
    ...keyRules('annotations', 'gizmo.example.test/', 'widget.example.test/id'),
    ...keyRules('labels', 'gizmo.example.test/owner'),
  ],
  keeps: keyRules('annotations', 'gizmo.example.test/wanted', 'widget.example.test/'),
};
const type: ResourceType = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };
const anObject = (metadata: object): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data: { k: 'v' } }) as KubeObject;

describe('20, 3.7: what a key is to the rules', () => {
  it.each([
    { key: 'gizmo.example.test/anything', by: 'gizmo.example.test/', why: 'it lies below a prefix' },
    { key: 'gizmo.example.test/wanted', by: undefined, why: 'it is excepted from the prefix' },
    { key: 'widget.example.test/id', by: 'widget.example.test/id', why: 'a key by itself beats a kept prefix' },
    { key: 'widget.example.test/other', by: undefined, why: 'the prefix is kept' },
    { key: 'gizmo.example.test', by: undefined, why: 'a name alone lies below nothing' },
    { key: 'my.gizmo.example.test/anything', by: undefined, why: 'a subdomain is another domain' },
    { key: 'gizmo.example.test.evil.example/anything', by: undefined, why: 'a longer domain is another domain' },
    { key: 'Gizmo.example.test/anything', by: undefined, why: 'case counts' },
    { key: 'widget.example.test/id2', by: undefined, why: 'an exact key is no prefix' },
  ])('$key: $why', ({ key, by }) => {
    expect(compileStripRules([gizmos]).strippedBy('annotations', key)?.value).toBe(by);
  });

  it('a rule for labels says nothing of annotations', () => {
    const rules = compileStripRules([gizmos]);

    expect(rules.strippedBy('labels', 'gizmo.example.test/owner')?.match).toBe('exact');
    expect(rules.strippedBy('labels', 'gizmo.example.test/other')).toBeUndefined();
  });

  it('any of several plugins strips', () => {
    const rules = compileStripRules([gizmos, { strips: keyRules('labels', 'other.example.test/'), keeps: [] }]);

    expect(rules.strippedBy('labels', 'other.example.test/x')?.value).toBe('other.example.test/');
  });
});

describe('stripping by rules', () => {
  const rules = compileStripRules([gizmos]);

  it('takes away the keys, and a map with its last key', () => {
    const object = anObject({
      labels: { 'gizmo.example.test/owner': 'x' },
      annotations: { 'gizmo.example.test/n': '1', 'gizmo.example.test/wanted': 'yes', 'team.example.test/n': '2' },
    });

    expect(withoutStripped(object, rules)).toEqual(
      anObject({ annotations: { 'gizmo.example.test/wanted': 'yes', 'team.example.test/n': '2' } }),
    );
  });

  it('leaves an object alone that holds none of them', () => {
    const object = anObject({ labels: { a: 'b' }, annotations: { 'gizmo.example.test/wanted': '' } });

    expect(withoutStripped(object, rules)).toBe(object);
    expect(withoutStripped(object, noStripRules)).toBe(object);
  });

  it.each([{ labels: null }, { labels: 'text' }, { labels: ['gizmo.example.test/owner'] }, { labels: 7 }])(
    'what is no map is not its business: %j',
    (metadata) => {
      const object = anObject(metadata);

      expect(withoutStripped(object, rules)).toBe(object);
    },
  );

  it('as a sanitizer keeps the echo, every other field, and a key named __proto__', () => {
    const annotations = JSON.parse('{"gizmo.example.test/n":"1","__proto__":"x"}') as object;
    const object = withEcho(anObject({ annotations }), { finalizers: ['f.example.test/x'] });
    const sanitizer = createBookkeepingSanitizer(gizmos);

    const once = sanitizer.sanitize(object, type, { include: [], exclude: [] });

    if (once.kind !== 'keep') throw new Error('dropped');
    expect(echoOf(once.object)).toEqual({ finalizers: ['f.example.test/x'] });
    expect(Object.keys(once.object.metadata.annotations ?? {})).toEqual(['__proto__']);
    expect(once.object['data']).toEqual({ k: 'v' });
    expect(sanitizer.sanitize(once.object, type, { include: [], exclude: [] })).toEqual(once);
  });
});
