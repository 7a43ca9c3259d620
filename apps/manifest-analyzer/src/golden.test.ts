import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { JsonValue } from '@gitops-reverser/kernel-api';
import { encodeYaml } from '@gitops-reverser/toolkit-yaml';
import { analyze } from './analyze.js';
import { analysisText, folderText, repoText } from './cli/text.js';
import { memorySource, readYaml } from './corpus.fixture.js';
import type { FolderReport, RepoReport } from './report.js';
import { judgeFolder } from './scan-folder.js';
import { scanRepo } from './scan-repo.js';
import type { Entry, Source } from './source.js';

const fixtures = resolve(import.meta.dirname, '../fixtures');

interface Case {
  readonly why: string;
  readonly mode: 'scan-folder' | 'scan-repo';
  /** Beside the files of `input`. */
  readonly entries?: readonly Entry[];
}

function sourceOf(name: string, { entries = [] }: Case): Source {
  const files = memorySource(join(fixtures, name, 'input'));
  return {
    async *list() {
      yield* files.list();
      yield* entries;
    },
    read: (path) =>
      entries.some((entry) => entry.path === path) ? Promise.resolve(new Uint8Array()) : files.read(path),
  };
}

/** All of a report but what changes with the build. */
function render(report: FolderReport | RepoReport): string {
  const { generator: _, ...status } = report.status;
  const encoded = encodeYaml({ kind: report.kind, status } as unknown as JsonValue);
  if (!encoded.ok) throw new Error(encoded.error.message);
  return encoded.value;
}

/** `UPDATE_GOLDEN=1` rewrites reports and texts; the difference is the change to review. */
describe('golden folders', () => {
  it.each(readdirSync(fixtures).map((name) => [name]))('%s', async (name) => {
    const each = readYaml(join(fixtures, name, 'case.yaml')) as unknown as Case;
    const source = sourceOf(name, each);
    const folder = each.mode === 'scan-folder' ? await judgeFolder(source, {}) : undefined;
    const repository = folder === undefined ? await scanRepo(source) : undefined;

    const found = {
      'report.yaml': render(folder?.report ?? (repository as RepoReport)),
      'report.txt': lines(
        folder === undefined ? repoText(repository as RepoReport) : folderText(folder.report, folder.usesKustomize),
      ),
      'analysis.txt': lines(analysisText(await analyze(source))),
    };

    for (const [file, text] of Object.entries(found)) {
      const path = join(fixtures, name, file);
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, text);
      expect(text).toBe(readFileSync(path, 'utf8'));
    }
  });
});

const lines = (text: Iterable<string>): string => [...text].map((line) => `${line}\n`).join('');
