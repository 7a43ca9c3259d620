import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ok, refuse, type Result } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';

export const DEFAULT_CONFIG_PATH = '/etc/gitops-reverser/config.yaml';

export interface ConfigFile {
  /** Folder plugins are looked up from. */
  readonly folder: string;
  /** Absent when there is no file, which is fine at the default path only. */
  readonly content?: unknown;
}

export async function readConfigFile(path: string | undefined): Promise<Result<ConfigFile, string>> {
  const at = path ?? DEFAULT_CONFIG_PATH;
  let bytes: Uint8Array;
  try {
    bytes = await readFile(at);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    if (path === undefined && code === 'ENOENT') return ok({ folder: process.cwd() });
    return refuse(`--config: ${at} cannot be read (${code}); check the path and its permissions`);
  }
  const parsed = parseDocuments(bytes);
  if (!parsed.ok) return refuse(`configuration file ${at}: ${parsed.error.message}`);
  const documents = parsed.value.filter(({ state }) => state !== 'empty');
  const [first, second] = documents;
  if (first?.state !== 'read' || second !== undefined) {
    const found = first?.state === 'invalid' ? first.problem.message : `${documents.length} documents`;
    return refuse(`configuration file ${at}: expected one YAML document without anchors or tags, found ${found}`);
  }
  return ok({ folder: dirname(at), content: first.value });
}
