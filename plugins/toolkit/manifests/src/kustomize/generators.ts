import type { JsonObject, JsonValue } from '@gitops-reverser/kernel-api';
import { unsupported, type KustomizeFeature } from './features.js';
import { checkSchema } from './schema.js';
import { isFields, optionalText, type Shape, textList } from './shapes.js';

/** What an entry of a generator makes; the index is that of the entry. */
export interface GeneratedName {
  readonly index: number;
  readonly name: string;
  readonly namespace?: string;
}

/** An entry of `configMapGenerator` in the shapes of chapter 20, 8.6. */
export interface ConfigMapGenerator extends GeneratedName {
  readonly files: readonly { readonly key: string; readonly path: string }[];
  readonly envs: readonly string[];
  readonly literals: readonly { readonly key: string; readonly value: string }[];
  readonly hasHash: boolean;
}

const entryKeys = ['name', 'namespace', 'files', 'envs', 'env', 'literals', 'options', 'behavior'];
const optionSchemas = {
  labels: 'textMap',
  annotations: 'textMap',
  disableNameSuffixHash: 'flag',
  immutable: 'flag',
} as const;

export const unsupportedGenerator = (cause: string): KustomizeFeature => unsupported('configMapGenerator', cause);

export function readGenerators(fields: JsonObject, shape: Shape): readonly ConfigMapGenerator[] {
  const global = readOptions(fields['generatorOptions'], 'generatorOptions', shape);
  return shape.maps(fields['configMapGenerator'], 'configMapGenerator').flatMap((entry, index) => {
    const unknown = Object.keys(entry).find((key) => !entryKeys.includes(key));
    if (unknown !== undefined) shape.add(unsupportedGenerator(`unknown key ${unknown}`));
    const { behavior } = entry;
    if (behavior !== undefined && behavior !== null && behavior !== '' && behavior !== 'create')
      shape.add(unsupportedGenerator('behavior'));
    const name = optionalText(entry, 'name', shape);
    if (name === undefined) {
      shape.add(unsupportedGenerator('an entry without name'));
      return [];
    }
    const own = readOptions(entry['options'], 'options of configMapGenerator', shape);
    const namespace = optionalText(entry, 'namespace', shape);
    const env = optionalText(entry, 'env', shape);
    return [
      {
        index,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        files: textList(entry, 'files', shape).map((text) => readFileEntry(text, shape)),
        envs: [...textList(entry, 'envs', shape), ...(env === undefined ? [] : [env])],
        literals: textList(entry, 'literals', shape).flatMap((text) => readLiteral(text, shape)),
        hasHash: own['disableNameSuffixHash'] !== true && global['disableNameSuffixHash'] !== true,
      },
    ];
  });
}

function readOptions(value: JsonValue | undefined, where: string, shape: Shape): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isFields(value)) {
    shape.wrongType(where, 'a map');
    return {};
  }
  for (const [key, schema] of Object.entries(optionSchemas))
    checkSchema(value[key], schema, `${key} of ${where}`, shape);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(optionSchemas, key));
  if (unknown !== undefined) shape.add(unsupportedGenerator(`unknown key ${unknown} in ${where}`));
  return value;
}

function readFileEntry(text: string, shape: Shape): { readonly key: string; readonly path: string } {
  const at = text.indexOf('=');
  if (at === -1) return { key: text.slice(text.lastIndexOf('/') + 1), path: text };
  const [key, path] = [text.slice(0, at), text.slice(at + 1)];
  if (key === '' || path === '' || path.includes('=')) shape.add(unsupportedGenerator('an entry of files'));
  return { key, path };
}

function readLiteral(text: string, shape: Shape): readonly { readonly key: string; readonly value: string }[] {
  const at = text.indexOf('=');
  if (at > 0) return [{ key: text.slice(0, at), value: trimQuotes(text.slice(at + 1)) }];
  shape.add(unsupportedGenerator('a literal without ='));
  return [];
}

function trimQuotes(text: string): string {
  const isQuote = (at: number): boolean => text[at] === "'" || text[at] === '"';
  let [start, end] = [0, text.length];
  while (start < end && isQuote(start)) start += 1;
  while (end > start && isQuote(end - 1)) end -= 1;
  return text.slice(start, end);
}

/** Keys of an env file, or undefined when a line would read the environment of the process. */
export function envKeys(text: string): readonly string[] | undefined {
  const keys: string[] = [];
  for (const [number, raw] of text.split('\n').entries()) {
    const line = (number === 0 ? raw.replace(/^\ufeff/, '') : raw).replace(/\r$/, '').trimStart();
    if (line === '' || line.startsWith('#')) continue;
    const at = line.indexOf('=');
    if (at < 1) return undefined;
    keys.push(line.slice(0, at));
  }
  return keys;
}
