import type { RepoReport } from './report.js';
import { scanRepo } from './scan-repo.js';
import { configMap, temporaryFolder } from './temporary-folder.fixture.js';

const outline = ({ status }: RepoReport): readonly string[] =>
  status.candidates.map(
    ({ path, layout, acceptedByOperator }) => `${path} ${layout} ${acceptedByOperator ? 'yes' : 'no'}`,
  );

describe('a repository', () => {
  it('offers render roots and folders of manifests, not bases and what lies below a kustomization', async () => {
    using repository = temporaryFolder({
      'base/kustomization.yaml': 'resources: [cm.yaml, parts/extra.yaml]',
      'base/cm.yaml': configMap('cm'),
      'base/parts/extra.yaml': configMap('extra'),
      'overlay/kustomization.yaml': 'resources: [../base]',
      'plain/a.yaml': configMap('a'),
      'docs/notes.txt': '',
    });

    expect(outline(await scanRepo(repository.root))).toEqual(['overlay kustomize-overlay yes', 'plain plain yes']);
  });

  it('says who reads a plain folder that an overlay takes files from', async () => {
    using repository = temporaryFolder({
      'plain/a.yaml': configMap('a'),
      'overlay/kustomization.yaml': 'resources: [../plain/a.yaml]',
    });

    const { candidates } = (await scanRepo(repository.root)).status;

    expect(candidates.map(({ path, readBy, readScope }) => ({ path, readBy, readScope }))).toEqual([
      { path: 'overlay', readBy: undefined, readScope: ['plain'] },
      { path: 'plain', readBy: ['overlay'], readScope: undefined },
    ]);
  });

  it('honours an ignore file at a candidate, and none at the top', async () => {
    using repository = temporaryFolder({
      '.gittargetignore': 'app\n',
      'app/.gittargetignore': 'notes.txt\n',
      'app/a.yaml': configMap('a'),
      'app/notes.txt': '',
    });

    expect(outline(await scanRepo(repository.root))).toEqual(['app plain yes']);
  });

  it('counts encrypted documents on their own', async () => {
    const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nsops: {mac: x}\n';
    using repository = temporaryFolder({ 'app/a.yaml': configMap('a'), 'app/s.sops.yaml': secret });

    const [candidate] = (await scanRepo(repository.root)).status.candidates;

    expect(candidate?.resources).toEqual({ rendered: 2, editable: 1, nonKrm: 0, encrypted: 1 });
  });

  it('says that a fault can be fixed, and by whom', async () => {
    using repository = temporaryFolder({ 'app/kustomization.yaml': 'resources: [missing.yaml]' });

    const [candidate] = (await scanRepo(repository.root)).status.candidates;

    expect(candidate).toMatchObject({
      layout: 'refused-structural',
      refusalReasons: [{ code: 'refused-structural', solvable: true, actor: 'repository-author' }],
      renderedTypes: {},
    });
  });

  it('takes the top itself for a candidate', async () => {
    using repository = temporaryFolder({ 'a.yaml': configMap('a'), 'below/b.yaml': configMap('b', 'other') });

    const { candidates, summary } = (await scanRepo(repository.root)).status;

    expect(candidates.map(({ path, inferredNamespace }) => ({ path, inferredNamespace }))).toEqual([
      { path: '.', inferredNamespace: undefined },
      { path: 'below', inferredNamespace: 'other' },
    ]);
    expect(summary.overlapConflicts).toEqual([{ ancestor: '.', descendant: 'below' }]);
  });

  it('gives the same bytes for the same input', async () => {
    using repository = temporaryFolder({
      'b/a.yaml': configMap('a'),
      'a/a.yaml': configMap('a'),
      'a-b/a.yaml': 'x: 1',
    });

    expect(JSON.stringify(await scanRepo(repository.root))).toBe(JSON.stringify(await scanRepo(repository.root)));
  });
});
