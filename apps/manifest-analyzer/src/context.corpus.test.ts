import { parseKustomization } from '@gitops-reverser/toolkit-manifests';
import { at, describeSuite, memorySource } from './corpus.fixture.js';
import { Gate } from './gate.js';
import { openSource } from './open-repository.js';

/** Structure only: what a renderer makes of `rendered` is a renderer's to show. */
describeSuite(
  'context',
  ({ path, input = '', verdict, reason, features, documents = [], overrides, diagnostics = [] }) => {
    const judge = async () => new Gate(await openSource(memorySource(at(path, input)), {})).judge('.');

    if (verdict !== 'unsure')
      it(`${path}: ${verdict}`, async () => {
        const { issues } = await judge();

        expect([...new Set(issues.map(({ code }) => code))]).toEqual(reason === undefined ? [] : [reason].flat());
      });

    if (features !== undefined)
      it(`${path}: the features are ${features.join(', ')}`, async () => {
        const { builds } = await judge();

        const codes = builds.flatMap((build) => build.features.map(({ feature }) => feature.code));
        expect([...new Set(codes)].sort()).toEqual(features);
      });

    it(`${path}: documents and where their namespace comes from`, async () => {
      const judgement = await judge();

      const found = judgement.documents.map(
        ({ identity: { group, version, kind, name, namespace = null }, namespaceSource }) => ({
          kind: group === '' ? `${version}/${kind}` : `${group}/${version}/${kind}`,
          name,
          namespace,
          namespaceSource,
        }),
      );
      expect(found).toEqual(documents);
      expect([...new Set(judgement.documents.flatMap((each) => each.diagnostics))]).toEqual(diagnostics);
    });

    if (overrides !== undefined)
      it(`${path}: who else writes fields of its documents`, async () => {
        const { documents: found } = await judge();

        const objects = found.flatMap((each) => each.objects);
        const plain = ({ path: file, entry }: { readonly path: string; readonly entry: object }) => {
          const { index: _, section: __, ...values } = entry as Readonly<Record<string, unknown>>;
          return { file, ...values };
        };
        expect({
          images: objects.flatMap(({ images }) => images.map(plain)),
          replicas: objects.flatMap(({ replicas }) => replicas.map(plain)),
        }).toEqual(overrides);
      });
  },
);

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
