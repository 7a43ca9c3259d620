import { parseKustomization } from '@gitops-reverser/toolkit-manifests';
import { codesOf, describeSuite, memorySource } from './corpus.fixture.js';
import { Gate } from './gate.js';
import { openSource } from './open-repository.js';
import { scanFolder } from './scan-folder.js';
import { scanRepo } from './scan-repo.js';

/** Structure only: what a renderer makes of `rendered` is a renderer's to show. */
describeSuite('context', ['input', 'features', 'documents', 'overrides', 'diagnostics'], (each, { at }) => {
  const { path, input = '', verdict, features, documents, overrides, diagnostics = [] } = each;
  const judge = async () => new Gate(await openSource(memorySource(at(each, input)), {})).judge('.');

  (verdict === undefined ? it.skip : it)(`${path}: ${verdict ?? 'unsure'}`, async () => {
    const codes = [...new Set((await judge()).issues.map(({ code }) => code))].sort();

    expect({ verdict: codes.length === 0 ? 'accepted' : 'refused', codes }).toEqual({ verdict, codes: codesOf(each) });
  });

  if (features !== undefined)
    it(`${path}: the features are ${features.join(', ')}`, async () => {
      const { builds } = await judge();

      const codes = builds.flatMap((build) => build.features.map(({ feature }) => feature.code));
      expect([...new Set(codes)].sort()).toEqual([...features].sort());
    });

  if (documents !== undefined)
    it(`${path}: documents and where their namespace comes from`, async () => {
      const judgement = await judge();

      const found = judgement.documents.map(({ document, identity, namespaceSource }, at) => {
        const { group, version, kind, name, namespace = null } = identity;
        const facts: Readonly<Record<string, unknown>> = {
          kind: group === '' ? `${version}/${kind}` : `${group}/${version}/${kind}`,
          ...{ name, namespace, namespaceSource },
          ...{ path: document.path, documentIndex: document.index },
        };
        const asked = Object.keys(documents[at] ?? facts);
        return Object.fromEntries(asked.map((key) => [key, facts[key]]));
      });
      expect(found).toEqual(documents);
      expect([...new Set(judgement.documents.flatMap((document) => document.diagnostics))]).toEqual(diagnostics);
    });

  if (overrides !== undefined)
    it(`${path}: who else writes fields of its documents`, async () => {
      const { documents: found } = await judge();

      const objects = found.flatMap((document) => document.objects);
      const plain = ({ path: file, entry }: { readonly path: string; readonly entry: object }) => {
        const { index: _, section: __, ...values } = entry as Readonly<Record<string, unknown>>;
        return { file, ...values };
      };
      // An entry governs many objects and is told once.
      const entries = <E extends { readonly entry: object }>(all: readonly E[]): readonly E[] => [
        ...new Map(all.map((one) => [one.entry, one])).values(),
      ];
      expect({
        images: entries(objects.flatMap(({ images }) => images)).map(plain),
        replicas: entries(objects.flatMap(({ replicas }) => replicas)).map(plain),
      }).toEqual(overrides);
    });
});

/** Of these the structure alone: whoever edits them tells the rest. */
describeSuite('e2e', ['input', 'retained'], (each, { at }) => {
  const { path, input = '', verdict, retained } = each;
  (verdict === 'accepted' ? it : it.skip)(`${path}: accepted, alone and inside a repository`, async () => {
    const folder = at(each, input);

    const { status } = await scanFolder(folder);
    const { candidates } = (await scanRepo(folder)).status;

    expect(status.issues).toEqual([]);
    expect(candidates.filter(({ acceptedByOperator }) => !acceptedByOperator)).toEqual([]);
    if (retained !== undefined) expect(status.retained.map((file) => file.path)).toEqual(retained);
  });
});

describe('a kustomization on its own', () => {
  it.each([
    { code: 'unparseable', why: 'a tag is a string', text: 'images: [{name: a, newTag: 1.29}]' },
    { code: 'unparseable', why: 'a misspelt key would be ignored in silence', text: 'resource: [a.yaml]' },
    { code: 'unparseable', why: 'another kind is no kustomization', text: 'kind: Deployment\nresources: []' },
    { code: 'malformed-images', why: 'no foreign pattern is ever run', text: 'images: [{name: "a.*", newTag: b}]' },
    { code: 'malformed-images', why: 'an entry for no image', text: 'images: [{newTag: b}]' },
    { code: 'malformed-replicas', why: 'less than none', text: 'replicas: [{name: a, count: -1}]' },
    {
      code: 'patches-inline',
      why: 'a patch has a file of its own',
      text: 'patches: [{patch: "x", target: {kind: A}}]',
    },
    { code: 'render-failed', why: 'kustomize refuses one that is empty', text: 'kind: Kustomization' },
    { code: 'remote-base', why: 'nothing is ever fetched', text: 'resources: [https://example.com/a.yaml]' },
    { code: 'namePrefix', why: 'named by its key', text: 'namePrefix: a-' },
  ])('$code: $why', ({ code, text }) => {
    const { features } = parseKustomization(Buffer.from(text));

    expect(features.map((feature) => feature.code)).toEqual([code]);
  });
});
