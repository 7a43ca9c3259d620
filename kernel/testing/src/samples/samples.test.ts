import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  clusterId,
  commitSha,
  definePlugin,
  ok,
  targetId,
  token,
  type Collection,
  type Writer,
} from '@gitops-reverser/kernel-api';
import {
  aConfigMap,
  aSecret,
  configMaps,
  describeApplier,
  describeAttributor,
  describeLayout,
  describeSanitizer,
  describeSource,
  describeWriter,
  fakeClock,
  fixedAttributor,
  jsonLines,
  memoryApplier,
  memoryCluster,
  memoryFacts,
  memorySource,
  memoryTool,
  observed,
  optionsTable,
  putDocument,
  refTo,
  simpleSanitizer,
} from '../index.js';
import { canonicalJson } from './json-lines.js';

const collection: Collection = { target: targetId('demo', 'target'), type: configMaps, namespace: 'demo' };

describeSource(memorySource, {
  world: () => {
    const cluster = memoryCluster();
    return Promise.resolve({
      given: { 'memory-cluster': cluster },
      collection,
      put: (name: string, value: string) =>
        Promise.resolve(void cluster.put(configMaps, aConfigMap({ name, data: { value } }))),
      remove: (name: string) => Promise.resolve(cluster.remove(configMaps, name)),
      valueOf: (object) => (object['data'] as { readonly value?: string }).value,
      cut: () => Promise.resolve(cluster.cut()),
      expire: () => Promise.resolve(cluster.expire()),
    });
  },
});

describeAttributor(fixedAttributor, {
  options: { evidence: 'a list' },
  readme: `# Options\n\n${optionsTable(fixedAttributor.options)}\n`,
  world: () => {
    const clock = fakeClock();
    const facts = memoryFacts();
    const [ref, actor] = [refTo(aConfigMap('app')), { username: 'alice' }];
    const match = { ref, actor, resourceVersion: '7' };
    const factByKind = {
      match,
      failed: { ...match, outcome: 'failed' },
      'dry-run': { ...match, outcome: 'dry-run' },
      other: { ...match, ref: refTo(aConfigMap('other')), actor: { username: 'bob' } },
    } as const;
    return Promise.resolve({
      given: { clock, 'memory-facts': facts },
      clock,
      actor,
      change: { cluster: clusterId('memory'), ref, removal: false, resourceVersion: '7' },
      deliver: (fact: keyof typeof factByKind) => Promise.resolve(facts.add(factByKind[fact])),
    });
  },
});

describeSanitizer(simpleSanitizer, {
  options: { annotations: ['example.test/noise'] },
  samples: [
    {
      object: observed(aConfigMap('kube-root-ca.crt')),
      type: configMaps,
      why: 'what every namespace is given',
      expect: 'drop',
    },
    {
      object: aConfigMap({ name: 'noisy', annotations: { 'example.test/noise': '1', kept: '2' } }),
      type: configMaps,
      why: 'a noisy annotation',
      expect: 'keep',
    },
  ],
});

const line = (name: string, data: Record<string, string>): string => `${canonicalJson(aConfigMap({ name, data }))}\n`;

describeLayout(jsonLines, {
  existing: {
    files: { 'team/all.jsonl': line('other', { a: '1' }) + line('app', { colour: 'blue' }), 'README.md': 'ours' },
    object: aConfigMap({ name: 'app', data: { colour: 'blue' } }),
    path: 'team/all.jsonl',
  },
  changed: aConfigMap({ name: 'app', data: { colour: 'green' } }),
  refused: { 'broken.jsonl': 'no json\n' },
  foreign: { 'kustomization.yaml': 'resources: []\n' },
});

describeWriter(jsonLines, {
  step: putDocument('demo/all.jsonl', aConfigMap({ name: 'app', data: { colour: 'green' } })),
  siblings: {
    before: `${line('other', { a: '1' })}${line('app', { colour: 'blue' })}{"kind":"Odd",  "apiVersion":"v1","metadata":{"name":"spaced"}}\n`,
    keeps: [line('other', { a: '1' }), '{"kind":"Odd",  "apiVersion"'],
  },
  unreadable: 'no json\n',
  foreign: putDocument('demo/app.yaml', aConfigMap('app')),
});

/** Seals a whole document with AES-GCM; keeps the sealed text while the content is the same. */
const sealingKey = token<Uint8Array, 'target'>('sealing-key', 'target');
const sealer = definePlugin({ id: 'sealer', kernelApi: '^1.0', options: {} }, (on) => {
  on.writer({
    order: 'first',
    serves: ['sealing'],
    needs: { key: sealingKey },
    create: ({ needs }): Writer => {
      const seal = (text: string): Uint8Array => {
        const iv = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', needs.key, iv);
        const body = Buffer.concat([cipher.update(text), cipher.final()]);
        return new TextEncoder().encode(Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64'));
      };
      const unseal = (sealed: Uint8Array): string => {
        const raw = Buffer.from(new TextDecoder().decode(sealed), 'base64');
        const decipher = createDecipheriv('aes-256-gcm', needs.key, raw.subarray(0, 12)).setAuthTag(
          raw.subarray(12, 28),
        );
        return Buffer.concat([decipher.update(raw.subarray(28)), decipher.final()]).toString();
      };
      return {
        encrypts: true,
        accepts: (step) => step.path.endsWith('.sealed'),
        render: (step, before) => {
          if (step.kind !== 'put-document') return Promise.resolve(ok('delete-file'));
          const text = canonicalJson(step.object);
          return Promise.resolve(ok(before !== undefined && unseal(before) === text ? before : seal(text)));
        },
      };
    },
  });
});

describeWriter(sealer, {
  given: { sealingKey: null, 'sealing-key': new Uint8Array(32).fill(7) },
  step: putDocument('demo/db.sealed', aSecret({ name: 'db' })),
});

describeApplier(memoryApplier, {
  world: () => {
    const tool = memoryTool();
    return Promise.resolve({
      given: { 'memory-tool': tool },
      commits: [commitSha('a'.repeat(40)), commitSha('b'.repeat(40))] as const,
      held: () => Promise.resolve(structuredClone(tool.state)),
      applied: () => Promise.resolve([...tool.applied]),
      holdByOther: () => Promise.resolve(tool.set({ isSuspended: true, heldBy: 'somebody' })),
      failNextApply: () => Promise.resolve(tool.failNext()),
    });
  },
});
