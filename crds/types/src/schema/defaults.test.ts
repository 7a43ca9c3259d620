import { kindNames, type KindName, type SpecOf } from '../kinds/kinds.js';
import { fullSpecsOf } from '../admission/full-objects.js';
import { applyDefaults } from './defaults.js';

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) freeze(inner);
  return value;
};

describe('VA-4: one pure function of defaults', () => {
  it.each<readonly [KindName, unknown, unknown]>([
    [
      'GitProvider',
      { url: 'https://h.example/r' },
      {
        url: 'https://h.example/r',
        commit: { committer: { name: 'GitOps Reverser', email: 'noreply@configbutler.ai' } },
      },
    ],
    ['GitBranch', { gitProviderRef: { name: 'a' }, branch: 'b' }, { gitProviderRef: { name: 'a' }, branch: 'b' }],
    [
      'GitTarget',
      { gitBranchRef: { name: 'a' }, path: 'b' },
      {
        gitBranchRef: { name: 'a' },
        path: 'b',
        kubeProviderRef: { name: 'default' },
        commit: { window: { idleTimeout: '5s', maxDuration: '1m' }, message: {} },
        placement: { useKustomize: false },
        prune: { mode: 'OnEvent' },
        onRefusal: 'Ignore',
        suspend: false,
        includeGenerated: [],
        excludeGenerated: [],
      },
    ],
    ['KubeProvider', { connection: { inCluster: {} } }, { connection: { inCluster: {}, dialect: 'kubernetes' } }],
    [
      'WatchRule',
      { gitTargetRef: { name: 'a' }, rules: [{ resources: ['pods'] }] },
      { gitTargetRef: { name: 'a' }, rules: [{ resources: ['pods'] }] },
    ],
    [
      'CommitRequest',
      { gitTargetRef: { name: 'a' } },
      {
        gitTargetRef: { name: 'a' },
        window: { attach: 'CurrentOrNext', attachTimeout: '2s', maxDuration: '2s' },
        whenNothingToCommit: 'Resolve',
      },
    ],
    [
      'GitReceiver',
      { type: 'GitHub', secretRef: { name: 'a' } },
      { type: 'GitHub', secretRef: { name: 'a' }, suspend: false },
    ],
  ])('%s', (kind, spec, effective) => {
    expect(applyDefaults(kind, freeze(spec) as SpecOf<typeof kind>)).toEqual(effective);
  });

  it('fills an encryption block, and never makes one up', () => {
    const spec: SpecOf<'GitTarget'> = { gitBranchRef: { name: 'a' }, path: 'b', encryption: {} };

    expect(applyDefaults('GitTarget', spec).encryption).toEqual({
      provider: 'sops',
      age: { enabled: false, recipients: { publicKeys: [], extractFromSecret: false, generateWhenMissing: false } },
      recipientsFrom: 'Target',
      encryptedRegex: '^(data|stringData)$',
    });
  });

  it('4.3: an unknown stored prune mode stays what it is', () => {
    const spec = {
      gitBranchRef: { name: 'a' },
      path: 'b',
      prune: { mode: 'Sometimes' },
    } as unknown as SpecOf<'GitTarget'>;

    expect(applyDefaults('GitTarget', spec).prune.mode).toBe('Sometimes');
  });

  it.each(kindNames)('%s: changes nothing that is set, and is done after once', (kind) => {
    for (const spec of fullSpecsOf(kind)) {
      const once = applyDefaults(kind, spec as SpecOf<typeof kind>);

      expect(once).toMatchObject(spec);
      expect(applyDefaults(kind, once as SpecOf<typeof kind>)).toEqual(once);
    }
  });

  it('hands out defaults that nobody shares', () => {
    const spec: SpecOf<'GitTarget'> = { gitBranchRef: { name: 'a' }, path: 'b' };

    expect(applyDefaults('GitTarget', spec).includeGenerated).not.toBe(
      applyDefaults('GitTarget', spec).includeGenerated,
    );
  });
});
