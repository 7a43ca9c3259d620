import type { KubeObject } from '../object.js';
import { matchesLabelSelector, parseFieldSelector, parseLabelSelector } from './selectors.js';

const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', labels: { app: 'web', 'x.y/tier': 'a' } },
  status: { phase: 'Running' },
};

describe('label selectors', () => {
  it.each([
    ['app=web', true],
    ['app==web', true],
    ['app!=web', false],
    ['other!=web', true],
    ['app in (api, web)', true],
    ['app notin (web)', false],
    ['app', true],
    ['!app', false],
    ['!other,app=web,x.y/tier in (a,b)', true],
    ['app=', false],
  ])('%s: %s', (text, expected) => {
    expect(parseLabelSelector(text)?.(object)).toBe(expected);
  });

  it.each(['a b', 'a in (', '=x', 'a=b c'])('refuses %p', (text) => {
    expect(() => parseLabelSelector(text)).toThrow(/unable to parse requirement/);
  });

  it('an empty one selects everything', () => {
    expect(parseLabelSelector('')).toBeUndefined();
  });

  it.each([
    { selector: { matchLabels: { app: 'web' } }, expected: true },
    { selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, expected: false },
    { selector: { matchExpressions: [{ key: 'app', operator: 'Odd' }] }, expected: false },
    { selector: {}, expected: true },
    { selector: undefined, expected: false },
  ])('as an object: $selector', ({ selector, expected }) => {
    expect(matchesLabelSelector(selector, { app: 'web' })).toBe(expected);
  });
});

describe('field selectors', () => {
  const fields = new Set(['status.phase']);
  it.each([
    ['metadata.name=p', true],
    ['metadata.namespace!=n', false],
    ['status.phase=Running,metadata.name==p', true],
    ['status.phase!=Running', false],
  ])('%s: %s', (text, expected) => {
    expect(parseFieldSelector(text, fields)?.(object)).toBe(expected);
  });

  it('refuses a field the type does not offer', () => {
    expect(() => parseFieldSelector('spec.x=1', fields)).toThrow('field label not supported: spec.x');
    expect(() => parseFieldSelector('spec.x=1', new Set())).toThrow(
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    expect(() => parseFieldSelector('nonsense', fields)).toThrow(/expected: field=value/);
  });
});
