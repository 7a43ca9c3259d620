import { compileStripRules, keyRules, noStripRules, type TargetSettings } from '@gitops-reverser/kernel-api';
import { targetChecks } from './target-checks.js';

describe('types treated like Secrets', () => {
  it('are core secrets and what the operator was told of', () => {
    const { isSensitive } = targetChecks(['vault.example.test/keys'], noStripRules);

    expect([isSensitive('', 'secrets'), isSensitive('vault.example.test', 'keys'), isSensitive('', 'keys')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('20, 14: a malformed item stops the start instead of being dropped', () => {
    expect(() => targetChecks(['tokens', 'vault..io/keys'], noStripRules)).toThrow('--additional-sensitive-resources');
  });
});

it('20, 7.2: a template that reads a label which a loaded plugin strips is a problem with its path', () => {
  const rules = compileStripRules([{ strips: keyRules('labels', 'sync.example.test/'), keeps: [] }]);
  const placement = {
    byType: {},
    default: '{label:sync.example.test/of|none}/{namespace}/{groupPath}/{resource}/{name}.yaml',
  };
  const settings = { placement: { ...placement, useKustomize: false }, messages: {} } as unknown as TargetSettings;

  expect(targetChecks([], rules).problems(settings)).toEqual([
    'spec.placement.default: {label:sync.example.test/of|none}: label sync.example.test/of never reaches Git (sync.example.test/* is stripped), so no path can be made from it',
  ]);
  expect(targetChecks([], noStripRules).problems(settings)).toEqual([]);
});
