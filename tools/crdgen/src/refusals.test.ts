import { kindOf } from '@gitops-reverser/crd-types';
import { codesInSource } from './codes-in-source.fixture.js';
import { acceptedReason, allRefusals, refusalFiles } from './refusals.js';

/** Wherever a refusal can come from; what the YAML toolkit calls its own problems is put into other words by its callers. */
const folders = [
  'kernel/api/src',
  'kernel/core/src',
  'kernel/pipeline/src',
  'plugins/plain/src',
  'plugins/toolkit/manifests/src',
  'crds/reconcilers/src',
  'apps/manifest-analyzer/src',
  'apps/operator/src',
];

it('every code that the source can give is on the page, and none else', () => {
  const found = codesInSource(folders);
  const open = found.filter(({ code }) => code === undefined).map(({ where }) => where);
  const known = allRefusals();
  const [page] = refusalFiles();

  expect(open).toEqual([]);
  // A new code gets its cause and remedy beside it: the meanings of plugins/plain, toolkit/manifests or kernel/pipeline.
  expect(found.filter(({ code }) => !known.has(code ?? ''))).toEqual([]);
  const given = new Set(found.map(({ code }) => code));
  expect([...known.keys()].filter((code) => !given.has(code))).toEqual([]);
  for (const code of known.keys()) expect(page?.text).toContain(`<a id="${code}"></a>\`${code}\``);
}, 180_000);

it('every code has a cause and an order what to do, and stands in one section', () => {
  const [page] = refusalFiles();

  for (const [code, { meaning }] of allRefusals()) {
    expect([code, meaning.cause]).toEqual([code, expect.stringMatching(/^[A-Z].{10,}[^.;]$/)]);
    expect([code, meaning.remedy]).toEqual([code, expect.stringMatching(/^[a-z].{5,}[^.]$/)]);
    expect([code, page?.text.split(`<a id="${code}"></a>`).length]).toEqual([code, 2]);
  }
});

it('10, 4.6: what a code leads to is a reason that the condition declares', () => {
  const condition = kindOf('GitTarget').conditions.find(({ type }) => type === 'GitPathAccepted');
  const declared = condition?.rows.flatMap(({ status, reasons }) => (status === 'False' ? reasons : []));

  for (const [code, refused] of allRefusals()) {
    const reason = acceptedReason(code, refused);
    if (reason !== undefined) expect([code, declared]).toEqual([code, expect.arrayContaining([reason])]);
  }
});
