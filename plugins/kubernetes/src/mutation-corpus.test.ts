import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  noStripRules,
  targetId,
  type JsonObject,
  type KubeObject,
  type SourceEvent,
} from '@gitops-reverser/kernel-api';
import { deepFreeze, typeOf } from '@gitops-reverser/kernel-testing';
import { corpusFolder, need, readYaml } from './corpus.fixture.js';
import { createSanitizer } from './sanitizer/index.js';
import { EventConverter } from './source/convert.js';

const folder = corpusFolder('CORPUS_MUTATIONS_DIR', 'corpus-mutations');
const files =
  folder === undefined
    ? []
    : (await readdir(folder, { recursive: true })).filter((name) => /(^|\/)watch\.[^/]*\.yaml$/.test(name)).sort();
const scenarios = [...new Set(files.map((file) => dirname(file)))];
type Recorded = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject };

/** Watch events of one scenario, oldest first. */
async function recorded(scenario: string): Promise<readonly Recorded[]> {
  const paths = files.filter((file) => dirname(file) === scenario).map((file) => join(folder ?? '', file));
  const all = await Promise.all(paths.map(readYaml));
  return all
    .filter(({ type }) => type !== 'BOOKMARK' && type !== 'ERROR')
    .map((event) => ({ type: event['type'], object: need(event, 'object') }) as Recorded)
    .sort((a, b) => versionOf(a.object) - versionOf(b.object));
}

/** Placeholders of versions are numbered in their order. */
const versionOf = ({ metadata }: KubeObject): number => Number(/\d+/.exec(metadata.resourceVersion ?? '')?.[0] ?? 0);
const serverOwned = /<(uid|rv|ts)(-\d+)?>/;

(folder === undefined ? describe.skip : describe)('mutation corpus', () => {
  it('is there', () => {
    expect(scenarios.length).toBeGreaterThan(0);
  });

  describe.each(scenarios)('%s', (scenario) => {
    it('sanitized, its objects hold nothing the server filled in, and are the same the second time', async () => {
      const sanitizer = createSanitizer({ defaultObjectExclusions: 'all', stripRules: noStripRules });
      for (const { object } of await recorded(scenario)) {
        const first = sanitizer.sanitize(deepFreeze(object), typeOf(object), { include: [], exclude: [] });
        if (first.kind === 'drop') continue;
        const { metadata, ...rest } = first.object;

        expect(
          Object.keys(metadata).filter((key) => !['name', 'namespace', 'labels', 'annotations'].includes(key)),
        ).toEqual([]);
        expect(serverOwned.test(JSON.stringify(metadata))).toBe(false);
        expect(Object.keys(rest)).not.toContain('status');
        expect(sanitizer.sanitize(first.object, typeOf(object), { include: [], exclude: [] })).toEqual(first);
      }
    });

    it('EV-1: told as a stream, an object is removed at most once, and nothing is told of it afterwards', async () => {
      const converters = new Map<string, EventConverter>();
      const told = new Map<string, SourceEvent['kind'][]>();
      for (const { type: kind, object } of await recorded(scenario)) {
        const type = typeOf(object);
        const key = `${type.group}/${type.resource}`;
        const converter = converters.get(key) ?? new EventConverter({ target: targetId('demo', 'target'), type });
        converters.set(key, converter);
        const event = converter.convert({
          kind: 'event',
          type: kind,
          object,
          resourceVersion: String(versionOf(object)),
        });
        const uid = (object as JsonObject & KubeObject).metadata.uid ?? '';
        told.set(uid, [...(told.get(uid) ?? []), event.kind]);
      }

      for (const kinds of told.values()) {
        const removal = kinds.indexOf('delete');
        if (removal >= 0) expect(kinds.slice(removal + 1).filter((kind) => kind !== 'progress')).toEqual([]);
      }
    });
  });
});
