import { memoryFolder, type FileContents } from '@gitops-reverser/kernel-testing';
import { FolderCache, readFolder } from './folder-reader.js';
import { judgePlainFolder } from './folder-verdict.js';

function judge(files: FileContents, path = 'platform/cert-manager') {
  const folder = memoryFolder(files, path);
  const { issues, retained } = judgePlainFolder(folder, readFolder(folder, new FolderCache()));
  return { issues: issues.map(({ code, path: at }) => `${code} ${at}`), retained: retained.map(({ path: at }) => at) };
}

const application = (file: string, at = 'source: {helm: {valueFiles: [FILE]}}'): string =>
  `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  ${at.replace('FILE', file)}\n`;
const helmRelease = (file: string): string =>
  `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec: {chart: {spec: {valuesFiles: [${file}]}}}\n`;
const values = 'replicaCount: 2\n';

describe('Helm values a manifest names', () => {
  it.each([
    { why: 'from the document', app: application('values/prod.yaml'), file: 'values/prod.yaml' },
    { why: 'from the top of the repository', app: application('platform/cert-manager/v.yaml'), file: 'v.yaml' },
    { why: 'through a reference', app: application('$values/platform/cert-manager/v.yaml'), file: 'v.yaml' },
    { why: 'beside the document', app: application('elsewhere/v.yaml'), file: 'v.yaml' },
    {
      why: 'in one of several sources',
      app: application('v.yaml', 'sources: [{chart: x, helm: {valueFiles: [FILE]}}]'),
      file: 'v.yaml',
    },
    { why: 'by a HelmRelease', app: helmRelease('./v.yaml'), file: 'v.yaml' },
  ])('are context: $why', ({ app, file }) => {
    const verdict = judge({ 'app.yaml': app, [file]: values });

    expect(verdict).toEqual({ issues: [], retained: [file] });
  });

  it.each([
    { why: 'nobody names them', files: { 'v.yaml': values } },
    {
      why: 'another kind names them',
      files: { 'app.yaml': application('v.yaml').replace('kind: Application', 'kind: Other'), 'v.yaml': values },
    },
    { why: 'the name leads out of the folder', files: { 'app.yaml': application('../v.yaml'), 'x/v.yaml': values } },
  ])('are refused: $why', ({ files }) => {
    const verdict = judge(files as unknown as FileContents);

    expect(verdict.retained).toEqual([]);
    expect(verdict.issues).toEqual([expect.stringMatching(/^non-krm-yaml /)]);
  });

  it('hide nothing else that is wrong', () => {
    const verdict = judge({ 'app.yaml': application('v.yaml'), 'v.yaml': values, 'notes.txt': '', 'w.yaml': values });

    expect(verdict).toEqual({ issues: ['foreign-file notes.txt', 'non-krm-yaml w.yaml'], retained: ['v.yaml'] });
  });
});
