import { selectorFault, selects, toSelectorText, type LabelSelector } from './label-selector.js';

const labels = { env: 'prod', tier: 'tenant', 'example.com/a': '' };

describe('label selectors', () => {
  it.each<{ readonly name: string; readonly selector: LabelSelector; readonly selected: boolean }>([
    { name: 'empty selects everything', selector: {}, selected: true },
    { name: 'an equal label', selector: { matchLabels: { env: 'prod' } }, selected: true },
    { name: 'one of two labels differs', selector: { matchLabels: { env: 'prod', tier: 'x' } }, selected: false },
    {
      name: 'In with the value',
      selector: { matchExpressions: [{ key: 'env', operator: 'In', values: ['test', 'prod'] }] },
      selected: true,
    },
    {
      name: 'In on an absent label',
      selector: { matchExpressions: [{ key: 'no', operator: 'In', values: ['a'] }] },
      selected: false,
    },
    {
      name: 'NotIn on an absent label',
      selector: { matchExpressions: [{ key: 'no', operator: 'NotIn', values: ['a'] }] },
      selected: true,
    },
    {
      name: 'NotIn with the value',
      selector: { matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['prod'] }] },
      selected: false,
    },
    {
      name: 'Exists on an empty value',
      selector: { matchExpressions: [{ key: 'example.com/a', operator: 'Exists' }] },
      selected: true,
    },
    {
      name: 'DoesNotExist',
      selector: { matchExpressions: [{ key: 'env', operator: 'DoesNotExist' }] },
      selected: false,
    },
    {
      name: 'a key that every object inherits',
      selector: { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] },
      selected: false,
    },
  ])('$name: $selected', ({ selector, selected }) => {
    expect(selectorFault(selector)).toBeUndefined();
    expect(selects(selector, labels)).toBe(selected);
  });

  it.each<readonly [string, unknown]>([
    ['a list', []],
    ['an unknown part', { matchLabel: {} }],
    ['what is no key', { matchLabels: { 'a b': 'c' } }],
    ['what is no value', { matchLabels: { a: 'b c' } }],
    ['In without values', { matchExpressions: [{ key: 'a', operator: 'In' }] }],
    ['Exists with values', { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] }],
    ['an unknown operator', { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] }],
  ])('%s is malformed', (_, selector) => {
    expect(selectorFault(selector)).toEqual(expect.any(String));
  });

  it('is written as the API server takes it', () => {
    const selector: LabelSelector = {
      matchLabels: { env: 'prod' },
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['x', 'y'] },
        { key: 'b', operator: 'NotIn', values: ['z'] },
        { key: 'c', operator: 'Exists' },
        { key: 'd', operator: 'DoesNotExist' },
      ],
    };

    expect(toSelectorText(selector)).toBe('env=prod,a in (x,y),b notin (z),c,!d');
  });
});
