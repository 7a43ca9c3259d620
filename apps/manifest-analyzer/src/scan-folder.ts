import { parseIgnoreFile, roleOf } from '@gitops-reverser/toolkit-manifests';
import { Gate } from './gate.js';
import { openFolder, openSource, type ScanOptions } from './open-repository.js';
import { generator, reportApiVersion, type FolderReport } from './report.js';
import type { Repository } from './repository.js';
import type { Source } from './source.js';

const nothingIgnored = parseIgnoreFile('');

/** Manifests below a folder, from there, as if nothing were ignored. */
export function manifestPaths(repository: Repository, path: string): readonly string[] {
  return [...repository.folder(path).files()].flatMap((file) =>
    roleOf(file.path, file.mode, nothingIgnored) === 'manifest' ? [file.path] : [],
  );
}

/**
 * Whether the operator would take this one folder on, and if not, why. A folder on disk is judged where it lies in its working
 * copy.
 *
 * @throws ScanFailed when the root is no directory or cannot be read; a refused folder is a report
 */
export async function scanFolder(source: string | Source, options: ScanOptions = {}): Promise<FolderReport> {
  return (await judgeFolder(source, options)).report;
}

/** The report, and what it has no field for. @throws as {@link scanFolder} does */
export async function judgeFolder(
  source: string | Source,
  options: ScanOptions,
): Promise<{ readonly report: FolderReport; readonly usesKustomize: boolean }> {
  const { repository, path } =
    typeof source === 'string'
      ? await openFolder(source, options)
      : { repository: await openSource(source, options), path: '.' };
  const gate = new Gate(repository);
  await gate.readAll(path, manifestPaths(repository, path), options);
  const { issues, retained, contents } = gate.judge(path);
  const report: FolderReport = {
    apiVersion: reportApiVersion,
    kind: 'FolderReport',
    spec: { ...(typeof source === 'string' ? { root: source } : {}), mode: 'scan-folder' },
    status: {
      generator: generator(),
      accepted: issues.length === 0,
      issues: issues.map(({ code, actor, path: at, documentIndex, message, solvable }) => ({
        kind: code,
        path: at,
        documentIndex,
        message,
        solvable,
        ...(actor === '' ? {} : { actor }),
      })),
      retained: retained.map(({ path: at, unsupported }) => ({
        path: at,
        documentIndex: 0,
        ...(unsupported === undefined ? {} : { unsupported }),
      })),
    },
  };
  return { report, usesKustomize: contents.kustomizations.length > 0 };
}
