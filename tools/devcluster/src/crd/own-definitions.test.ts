import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { type Devcluster, type LooseObject, startDevcluster } from '../index.js';
import { callApi } from '../testing/api-client.js';

let cluster: Devcluster;
beforeEach(async () => {
  cluster = await startDevcluster({ tls: false });
});
afterEach(() => cluster.stop());

describe('our own definitions', () => {
  const folder = join(import.meta.dirname, '../../../../crds/manifests');
  const manifests = readdirSync(folder).map((file) => {
    const documents = parseDocuments(readFileSync(join(folder, file), 'utf8'));
    const [document] = documents.ok ? documents.value : [];
    if (document?.state !== 'read') throw new Error(`${file} is not readable YAML`);
    return { file, value: document.value as unknown as LooseObject };
  });
  beforeEach(() => {
    cluster.apply(manifests.map(({ value }) => value));
  });

  it('all ten apply strictly and are established', () => {
    const ours = cluster
      .list('apiextensions.k8s.io/v1', 'CustomResourceDefinition')
      .filter(({ metadata }) => metadata.name?.endsWith('configbutler.ai'));

    expect(ours).toHaveLength(10);
    for (const one of ours)
      expect(one).toMatchObject({ status: { conditions: [{ status: 'True' }, { status: 'True' }] } });
  });

  it('GP-1: the address of a GitProvider is immutable', async () => {
    const path = '/apis/configbutler.ai/v1alpha3/namespaces/default/gitproviders';
    const created = await callApi(cluster, path, {
      method: 'POST',
      body: {
        metadata: { name: 'p' },
        apiVersion: 'configbutler.ai/v1alpha3',
        kind: 'GitProvider',
        spec: { url: 'https://git.example/a/b' },
      },
    });

    const answer = await callApi(cluster, `${path}/p`, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { spec: { url: 'https://git.example/a/c' } },
    });

    expect(created.code).toBe(201);
    expect(answer.code).toBe(422);
    expect(answer.json['message']).toContain('spec.url is immutable');
  });

  it('GP-3: credentials in the address are refused', async () => {
    const answer = await callApi(cluster, '/apis/configbutler.ai/v1alpha3/namespaces/default/gitproviders', {
      method: 'POST',
      body: {
        metadata: { name: 'p' },
        apiVersion: 'configbutler.ai/v1alpha3',
        kind: 'GitProvider',
        spec: { url: 'https://u:p@git.example/a/b' },
      },
    });

    expect(answer.json).toMatchObject({ code: 422, message: expect.stringContaining('spec.secretRef') });
  });
});
