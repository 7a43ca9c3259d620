import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { applyCrds, openStage, readAdmissionCases, story } from './stage.js';
import type { AdmissionCase, Stage } from './stage.js';

const examples = join(import.meta.dirname, '..', '..', 'fixtures', 'examples');
const { namespace, cases } = await readAdmissionCases();

/** Kind: plural, short name, scope. */
const kinds: Readonly<Record<string, readonly [string, string, boolean]>> = {
  ArgoCDClaim: ['argocdclaims', 'aclaim', true],
  ClusterWatchRule: ['clusterwatchrules', 'cwrule', false],
  CommitRequest: ['commitrequests', 'creq', true],
  FluxClaim: ['fluxclaims', 'fclaim', true],
  GitBranch: ['gitbranches', 'gbr', true],
  GitProvider: ['gitproviders', 'gprov', true],
  GitReceiver: ['gitreceivers', 'grecv', true],
  GitTarget: ['gittargets', 'gtgt', true],
  KubeProvider: ['kubeproviders', 'kprov', false],
  WatchRule: ['watchrules', 'wrule', true],
};

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

story('the ten kinds on a real API server', () => {
  let stage: Stage;
  let api: { readonly url: string } & AsyncDisposable;
  beforeAll(async () => {
    stage = await openStage('crds');
    api = await stage.kubectl.proxy();
    await applyCrds(stage.kubectl);
    await stage.createNamespace('examples');
    await stage.kubectl.run(['create', 'namespace', namespace]);
    stage.cleanUpWith('delete', 'namespace', namespace, '--wait=false');
  }, 120_000);
  afterAll(async () => {
    await api[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  });

  async function send(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await fetch(`${api.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  it('are served with their plurals, short names, scopes, status and the category of all of them', async () => {
    const { body } = await send('GET', '/apis/configbutler.ai/v1alpha3');

    const resources = body['resources'] as readonly ApiResource[];
    const served = resources.filter(({ name }) => !name.includes('/'));
    expect(
      Object.fromEntries(
        served.map(({ kind, name, shortNames, namespaced }) => [kind, [name, ...(shortNames ?? []), namespaced]]),
      ),
    ).toEqual(kinds);
    expect(served.every(({ categories }) => categories?.includes('gitops-reverser'))).toBe(true);
    expect(resources.filter(({ name }) => name.endsWith('/status'))).toHaveLength(10);
  });

  it('have no schema the API server warns about, and columns that end with Age', async () => {
    const crds = await stage.kubectl.get<{ items: readonly CustomResourceDefinition[] }>('crd');
    const ours = crds.items.filter(({ spec }) => spec.group === 'configbutler.ai');

    const broken = ours.flatMap(({ metadata, status }) =>
      status.conditions
        .filter(({ type }) => type === 'NonStructuralSchema')
        .map(({ message }) => `${metadata.name}: ${message}`),
    );
    expect(broken).toEqual([]);
    expect(ours.map(({ spec }) => spec.versions[0]?.additionalPrinterColumns?.at(-1)?.name)).toEqual(
      Array<string>(10).fill('Age'),
    );
  });

  it.each(['quick-start', 'multi-tenant', 'appliers'])(
    'accept the worked example %s, with strict validation',
    async (name) => {
      const text = (await readFile(join(examples, `${name}.yaml`), 'utf8')).replaceAll(
        'namespace: examples',
        `namespace: examples${stage.suffix}`,
      );

      const applied = await stage.kubectl.apply(text, '--dry-run=server', '--validate=strict');

      expect(
        applied
          .trimEnd()
          .split('\n')
          .every((line) => line.endsWith('(server dry run)')),
      ).toBe(true);
    },
  );

  it('explain themselves', async () => {
    const explained = await stage.kubectl.run(['explain', 'gittargets.spec.prune.mode']);

    expect(explained).toMatch(/FIELD: mode <string>/);
    expect(explained).toMatch(/ENUM:\s+Never\s+OnEvent\s+Always|ENUM:\s+Always\s+Never\s+OnEvent/);
  });

  describe('admission', () => {
    it('has cases, accepted and refused', () => {
      expect(cases.filter(({ refused }) => refused === undefined).length).toBeGreaterThan(0);
      expect(cases.filter(({ refused }) => refused !== undefined).length).toBeGreaterThan(0);
    });

    it.each(
      cases.map((row): [string, AdmissionCase] => [
        row.name.includes(row.id) ? row.name : `${row.id}: ${row.name}`,
        row,
      ]),
    )('%s', async (_, { object, stored, refused }) => {
      const [plural = '', , isNamespaced = true] = kinds[object.kind] ?? [];
      const collection = `/apis/configbutler.ai/v1alpha3/${isNamespaced ? `namespaces/${namespace}/` : ''}${plural}`;
      let answer;
      if (stored === undefined) answer = await send('POST', `${collection}?dryRun=All`, object);
      else {
        const before = await send('POST', collection, stored);
        expect(before).toMatchObject({ status: 201 });
        const { resourceVersion } = before.body['metadata'] as { resourceVersion: string };
        const one = `${collection}/${stored.metadata.name}`;
        answer = await send('PUT', `${one}?dryRun=All`, {
          ...object,
          metadata: { ...object.metadata, resourceVersion },
        });
        await send('DELETE', one);
      }

      const said = { status: answer.status < 300 ? 'accepted' : answer.status, message: answer.body['message'] };
      if (refused === undefined) expect(said).toEqual({ status: 'accepted', message: undefined });
      else expect(said).toEqual({ status: 422, message: expect.stringContaining(refused) as string });
    });
  });
});

interface CustomResourceDefinition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly versions: readonly { readonly additionalPrinterColumns?: readonly { readonly name: string }[] }[];
  };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly message: string }[] };
}
