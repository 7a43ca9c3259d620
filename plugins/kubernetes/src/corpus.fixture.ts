import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';

const shared = join(import.meta.dirname, '..', '..', '..', '..', 'shared');

/** A folder of data that is not part of this repository; undefined where it is absent, which the log then says. */
export function corpusFolder(variable: string, name: string): string | undefined {
  const folder = process.env[variable] ?? join(shared, name);
  if (existsSync(folder)) return folder;
  process.stderr.write(`SKIPPED: no corpus at ${folder}; set ${variable} to the folder that holds it\n`);
  return undefined;
}

/** The only document of a file, or the first. */
export async function readYaml(path: string): Promise<JsonObject> {
  const documents = parseDocuments(await readFile(path));
  const document = documents.ok ? documents.value.find(({ state }) => state === 'read') : undefined;
  if (document?.state !== 'read') throw new Error(`${path}: expected one YAML document, found none that can be read`);
  return document.value as JsonObject;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at a path that must be there. */
export function need(value: JsonObject, key: string): JsonObject {
  const found = value[key];
  if (!isObject(found)) throw new Error(`expected a map at ${key}, found ${JSON.stringify(found)}`);
  return found;
}
