import { jest } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Devcluster, startDevcluster } from './index.js';

const kubectl = process.env['KUBECTL'] ?? 'kubectl';
const hasKubectl = spawnSync(kubectl, ['version', '--client']).status === 0;
if (!hasKubectl)
  process.stderr.write(
    `SKIPPED: no kubectl (set KUBECTL, or put it on the PATH): its suite against the devcluster does not run\n`,
  );

(hasKubectl ? describe : describe.skip)('kubectl', () => {
  jestTimeout();
  let cluster: Devcluster;
  let folder: string;
  beforeAll(async () => {
    cluster = await startDevcluster();
    folder = mkdtempSync(join(tmpdir(), 'devcluster-kubectl-'));
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig());
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });

  /** The server runs in this process: kubectl must not block it. */
  function run(
    args: readonly string[],
    { input = '', env = {} }: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(
        kubectl,
        ['--kubeconfig', join(folder, 'kubeconfig'), '--cache-dir', join(folder, 'cache'), ...args],
        { env: { ...process.env, NODE_OPTIONS: '', ...env } },
      );
      let out = '';
      let err = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, out, err }));
      child.stdin.end(input);
    });
  }
  const ok = async (...args: string[]) => {
    const { code, out, err } = await run(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: exit ${code}: ${err}`);
    return out.trim();
  };
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('creates what its generators send as protobuf', async () => {
    const creates = [
      ['namespace', 'made'],
      ['configmap', 'cm', '--from-literal=a=b'],
      ['secret', 'generic', 'se', '--from-literal=p=q'],
      ['serviceaccount', 'robot'],
      ['deployment', 'dep', '--image=nginx:1'],
      ['service', 'clusterip', 'svc', '--tcp=80:8080'],
      ['job', 'job', '--image=busybox', '--', 'true'],
      ['cronjob', 'cron', '--image=busybox', '--schedule=*/5 * * * *', '--', 'true'],
      ['role', 'ro', '--verb=get', '--resource=pods'],
      ['rolebinding', 'rb', '--role=ro', '--serviceaccount=default:robot'],
      ['clusterrole', 'cr', '--verb=get', '--resource=pods'],
      ['clusterrolebinding', 'crb', '--clusterrole=cr', '--user=bob'],
      ['ingress', 'ing', '--rule=h.example/p*=svc:80'],
      ['quota', 'qu', '--hard=pods=3'],
      ['poddisruptionbudget', 'pdb', '--selector=app=x', '--min-available=1'],
      ['priorityclass', 'pc', '--value=10'],
    ];

    for (const [kind = '', ...args] of creates) expect(await ok('create', kind, ...args)).toMatch(/ created$/);

    expect(cluster.get('v1', 'ConfigMap', 'cm')).toMatchObject({
      data: { a: 'b' },
      metadata: { managedFields: [{ manager: 'kubectl-create', operation: 'Update' }] },
    });
    expect(cluster.get('batch/v1', 'CronJob', 'cron')).toMatchObject({
      spec: {
        schedule: '*/5 * * * *',
        jobTemplate: { spec: { template: { spec: { containers: [{ command: ['true'] }] } } } },
      },
    });
    expect(cluster.get('networking.k8s.io/v1', 'Ingress', 'ing')).toMatchObject({
      spec: { rules: [{ host: 'h.example', http: { paths: [{ path: '/p', pathType: 'Prefix' }] } }] },
    });
    expect(cluster.get('v1', 'ResourceQuota', 'qu')).toMatchObject({ spec: { hard: { pods: '3' } } });
    expect(cluster.get('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rb')).toMatchObject({
      subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
    });
    expect((await ok('create', 'token', 'robot')).length).toBeGreaterThan(20);
  });

  it('applies client-side, sees nothing to do, shows the difference, and removes what the file lost', async () => {
    const path = file('apply.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ap}\ndata: {a: "1", b: "2"}\n');

    expect(await ok('apply', '-f', path)).toBe('configmap/ap created');
    expect(await ok('apply', '-f', path)).toBe('configmap/ap unchanged');
    file('apply.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ap}\ndata: {b: "2"}\n');
    const diff = await run(['diff', '-f', path]);
    expect([diff.code, diff.out]).toEqual([1, expect.stringContaining('-  a: "1"')]);
    expect(await ok('apply', '-f', path)).toBe('configmap/ap configured');
    expect(cluster.get('v1', 'ConfigMap', 'ap')).toMatchObject({ data: { b: '2' } });
    expect(cluster.get('v1', 'ConfigMap', 'ap')).not.toMatchObject({ data: { a: '1' } });
  });

  it('applies server-side over what was applied client-side, and meets a conflict', async () => {
    const path = file('ssa.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ap}\ndata: {b: "2"}\n');

    expect(await ok('apply', '--server-side', '-f', path)).toBe('configmap/ap serverside-applied');
    file('ssa.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ap}\ndata: {b: "4"}\n');
    const conflict = await run(['apply', '--server-side', '--field-manager=other', '-f', path]);
    expect([conflict.code, conflict.err]).toEqual([1, expect.stringContaining('conflict with "kubectl": .data.b')]);
    expect(await ok('apply', '--server-side', '--force-conflicts', '--field-manager=other', '-f', path)).toBe(
      'configmap/ap serverside-applied',
    );
  });

  it('refuses a field it does not know, by name', async () => {
    const { code, err } = await run(['apply', '-f', '-'], {
      input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: z}\ndatta: {a: b}\n',
    });

    expect([code, err]).toEqual([1, expect.stringContaining('strict decoding error: unknown field "datta"')]);
  });

  it('edits, replaces, labels, annotates, patches, scales and sets', async () => {
    const edited = await run(['edit', 'configmap', 'cm'], {
      env: { EDITOR: "sed -i 's/a: b/a: edited/'", KUBE_EDITOR: "sed -i 's/a: b/a: edited/'" },
    });
    expect(edited.out).toContain('configmap/cm edited');
    const json = (await ok('get', 'configmap', 'cm', '-o', 'json')).replace('edited', 'replaced');
    expect((await run(['replace', '-f', '-'], { input: json })).out).toContain('configmap/cm replaced');
    expect(await ok('label', 'configmap', 'cm', 'x=y')).toBe('configmap/cm labeled');
    expect(await ok('annotate', 'configmap', 'cm', 'n=o')).toBe('configmap/cm annotated');
    expect(cluster.get('v1', 'ConfigMap', 'cm')).toMatchObject({
      data: { a: 'replaced' },
      metadata: { labels: { x: 'y' }, annotations: { n: 'o' } },
    });
    expect(await ok('scale', 'deployment', 'dep', '--replicas=3')).toBe('deployment.apps/dep scaled');
    expect(await ok('set', 'image', 'deployment/dep', 'nginx=nginx:2')).toBe('deployment.apps/dep image updated');
    expect(
      await ok(
        'patch',
        'deployment',
        'dep',
        '-p',
        '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"s:1"}]}}}}',
      ),
    ).toBe('deployment.apps/dep patched');
    expect(
      await ok(
        'patch',
        'deployment',
        'dep',
        '--type=json',
        '-p',
        '[{"op":"add","path":"/spec/minReadySeconds","value":5}]',
      ),
    ).toContain('patched');
    expect(await ok('patch', 'deployment', 'dep', '--type=merge', '-p', '{"metadata":{"labels":{"m":"n"}}}')).toContain(
      'patched',
    );
    expect(cluster.get('apps/v1', 'Deployment', 'dep')).toMatchObject({
      metadata: { labels: { m: 'n' } },
      spec: { replicas: 3, template: { spec: { containers: [{ image: 's:1' }, { image: 'nginx:2' }] } } },
    });
  });

  it('waits for a condition that is set later', async () => {
    const waiting = ok('wait', '--for=condition=Available', 'deployment/dep', '--timeout=20s');
    await ok(
      'patch',
      'deployment',
      'dep',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"conditions":[{"type":"Available","status":"True"}]}}',
    );

    expect(await waiting).toBe('deployment.apps/dep condition met');
  });

  it('prints tables, describes and watches', async () => {
    expect(await ok('get', 'deployment', 'dep', '--no-headers')).toMatch(/^dep\s+0\/3\s+0\s+0\s+\d+s$/);
    expect(await ok('get', 'all')).toContain('deployment.apps/dep');
    expect(await ok('describe', 'deployment', 'dep')).toContain(
      'RollingUpdateStrategy:  25% max unavailable, 25% max surge',
    );
    expect(await ok('describe', 'configmap', 'cm')).toContain('replaced');
    const child = spawn(
      kubectl,
      [
        '--kubeconfig',
        join(folder, 'kubeconfig'),
        '--cache-dir',
        join(folder, 'cache'),
        'get',
        'configmap',
        '-w',
        '--no-headers',
      ],
      { env: { ...process.env, NODE_OPTIONS: '' } },
    );
    let seen = '';
    const sawIt = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        if (seen.includes('ap ') && cluster.get('v1', 'ConfigMap', 'watched') === undefined)
          cluster.load([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'watched', namespace: 'default' } }]);
        if (seen.includes('watched')) resolve();
      });
    });
    await sawIt;
    child.kill();
    expect(seen).toMatch(/watched\s+0\s+\d+s/);
  });

  it('deletes and waits until it is gone, namespaces with all they hold', async () => {
    expect(await ok('delete', 'configmap', 'cm')).toMatch(/deleted/);
    expect(await ok('delete', 'deployment', 'dep', '--cascade=foreground')).toMatch(/deleted/);
    await ok('create', 'configmap', 'inside', '-n', 'made', '--from-literal=a=b');
    expect(await ok('delete', 'namespace', 'made')).toMatch(/deleted/);
    expect(cluster.get('v1', 'Namespace', 'made')).toBeUndefined();
  });

  it('knows the resources, the version, and what the user may do', async () => {
    expect(await ok('api-resources', '-o', 'name')).toContain('deployments.apps');
    expect(await ok('version', '-o', 'json')).toContain('"gitVersion": "v1.36.0"');
    expect(await ok('auth', 'can-i', 'create', 'pods')).toBe('yes');
    expect(await ok('auth', 'whoami')).toContain('admin');
    expect(await ok('get', '--raw', '/readyz')).toBe('ok');
  });

  it('finds its way without aggregated discovery', async () => {
    cluster.faults.aggregatedDiscovery = false;
    rmSync(join(folder, 'cache'), { recursive: true, force: true });

    expect(await ok('get', 'deploy,cm,crd', '-A')).toContain('kube-root-ca.crt');
    cluster.faults.aggregatedDiscovery = true;
  });

  it('takes a custom resource definition and its objects', async () => {
    const path = join(import.meta.dirname, '../../../crds/manifests/gitproviders.yaml');
    expect(readFileSync(path, 'utf8')).toContain('kind: CustomResourceDefinition');

    expect(await ok('apply', '-f', path)).toContain('created');
    expect(
      await ok('wait', '--for=condition=Established', 'crd/gitproviders.configbutler.ai', '--timeout=10s'),
    ).toContain('condition met');
    const applied = await run(['apply', '-f', '-'], {
      input:
        'apiVersion: configbutler.ai/v1alpha3\nkind: GitProvider\nmetadata: {name: origin}\nspec: {url: "https://git.example/a/b"}\n',
    });
    expect(applied.out).toContain('gitprovider.configbutler.ai/origin created');
    expect(await ok('get', 'gitproviders')).toMatch(/NAME\s+URL/);
  });
});

function jestTimeout(): void {
  // A dozen processes one after another, on a machine that may be busy.
  jest.setTimeout(120_000);
}
