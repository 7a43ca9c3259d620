import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DesiredChange, KubeObject } from '@gitops-reverser/kernel-api';
import { memoryFolder } from '@gitops-reverser/kernel-testing';
import { FolderCache, parseApiVersion } from '@gitops-reverser/toolkit-manifests';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';
import { createPlainLayout, type PlainLayoutOptions } from './layout.js';
import { createPlainWriter } from './writer.js';

const fixtures = resolve(import.meta.dirname, '../fixtures');

interface Case {
  readonly why: string;
  readonly settings?: Partial<PlainLayoutOptions['settings']>;
  readonly changes: readonly {
    readonly upsert?: string;
    readonly delete?: string;
    readonly object: KubeObject;
    /** Code of the refusal; `no-writer`: planned, and nobody writes it. */
    readonly refused?: string;
  }[];
}

function readCase(name: string): Case {
  const documents = parseDocuments(readFileSync(join(fixtures, name, 'case.yaml')));
  const first = documents.ok ? documents.value[0] : undefined;
  if (first?.state !== 'read') throw new Error(`case ${name} does not parse`);
  return first.value as unknown as Case;
}

function readTree(directory: string): ReadonlyMap<string, string> {
  const files = readdirSync(directory, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(directory.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

function toChange({ upsert, delete: removed, object }: Case['changes'][number]): DesiredChange {
  const { group, version } = parseApiVersion(object.apiVersion);
  const { name, namespace } = object.metadata;
  const resource = upsert ?? removed ?? '';
  const ref = { group, version, resource, kind: object.kind, name, ...(namespace === undefined ? {} : { namespace }) };
  return removed === undefined
    ? { kind: 'upsert', ref, object, sensitive: resource === 'secrets' }
    : { kind: 'delete', ref };
}

const sorted = (tree: ReadonlyMap<string, string>) =>
  Object.fromEntries([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));

describe('golden folders', () => {
  it.each(readdirSync(fixtures).map((name) => [name]))('%s', async (name) => {
    const { settings, changes } = readCase(name);
    const layout = createPlainLayout({
      cache: new FolderCache(),
      settings: { placement: { byType: {}, useKustomize: false }, ...settings },
    });
    const writer = createPlainWriter(new FolderCache());
    const apply = async (tree: ReadonlyMap<string, string>) => {
      const files = new Map(tree);
      const folder = memoryFolder(Object.fromEntries(tree));
      expect(layout.recognise(folder).kind).toBe('mine');
      const codes: (string | undefined)[] = [];
      for (const answer of layout.plan(changes.map(toChange), folder)) {
        let code = answer.ok ? undefined : answer.error.code;
        for (const step of answer.ok ? answer.value : []) {
          if (!writer.accepts(step)) {
            code = 'no-writer';
            break;
          }
          const before = files.get(step.path);
          const bytes = before === undefined ? undefined : Buffer.from(before);
          const rendered = await writer.render(step, bytes, new AbortController().signal);
          if (!rendered.ok) code = rendered.error.code;
          else if (rendered.value === 'delete-file') files.delete(step.path);
          else files.set(step.path, Buffer.from(rendered.value).toString());
        }
        codes.push(code);
      }
      return { files, codes };
    };

    const { files, codes } = await apply(readTree(join(fixtures, name, 'before')));
    expect(codes).toEqual(changes.map(({ refused }) => refused));
    expect(sorted(files)).toEqual(sorted(readTree(join(fixtures, name, 'after'))));

    const again = await apply(files);
    expect(sorted(again.files)).toEqual(sorted(files));
  });
});
