import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf, ok, refuse, type Result, type ReverserError } from '@gitops-reverser/kernel-api';
import { coreError } from './errors.js';

export interface FoundPackage {
  /** Path of its package.json. */
  readonly file: string;
  readonly version: string;
  /** Its `gitopsReverser` block, unread. */
  readonly block: unknown;
  /** What importing it by name would load; computed without running anything. */
  readonly entry: Result<URL, ReverserError>;
}

/** In a checkout, packages of this repository are their sources; anybody else's are what they publish. */
const SOURCE_CONDITION = '@gitops-reverser/source';
const CONDITIONS: readonly string[] = [
  ...(import.meta.url.endsWith('.ts') ? [SOURCE_CONDITION] : []),
  'node',
  'import',
  'module-sync',
  'default',
];

/**
 * Finds an installed package as Node does: in the `node_modules` of `from` and of every folder above. Reads its package.json
 * and runs none of its code.
 */
export function findPackage(use: string, from: string): Result<FoundPackage, ReverserError> {
  if (!/^(@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/.test(use)) {
    return refuse(
      coreError('PluginNotFound', {
        message: `${JSON.stringify(use)}: expected the name of an npm package, such as @acme/reverser-plugin-foo; paths and URLs are not loaded`,
        details: { package: use },
      }),
    );
  }
  for (const folder of ancestors(resolve(from))) {
    const file = join(folder, 'node_modules', use, 'package.json');
    if (existsSync(file)) return readPackage(use, file);
  }
  return refuse(
    coreError('PluginNotFound', {
      message: `${use}: no such package in the node_modules of ${resolve(from)} or of a folder above it; install it there: npm install --prefix ${resolve(from)} ${use}`,
      details: { package: use, from: resolve(from) },
    }),
  );
}

function* ancestors(from: string): Iterable<string> {
  for (let folder = from; ; folder = dirname(folder)) {
    if (!folder.endsWith(`${sep}node_modules`)) yield folder;
    if (dirname(folder) === folder) return;
  }
}

function readPackage(use: string, file: string): Result<FoundPackage, ReverserError> {
  let content: Readonly<Record<string, unknown>>;
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof parsed !== 'object' || parsed === null) throw new TypeError('expected an object');
    content = parsed as Readonly<Record<string, unknown>>;
  } catch (error) {
    return refuse(
      coreError('PluginManifestInvalid', {
        message: `${use}: ${file} cannot be read: ${messageOf(error)}; install the package again`,
        details: { package: use, file },
        cause: error,
      }),
    );
  }
  // The real folder, as Node imports it: a package linked into two places is still one module.
  const folder = realpathSync(dirname(file));
  const { version, gitopsReverser } = content;
  return ok({
    file,
    version: typeof version === 'string' ? version : '0.0.0',
    block: gitopsReverser,
    entry: entryOf(use, file, folder, content),
  });
}

function entryOf(
  use: string,
  file: string,
  folder: string,
  content: Readonly<Record<string, unknown>>,
): Result<URL, ReverserError> {
  const { exports, main } = content;
  const invalid = (what: string): Result<URL, ReverserError> =>
    refuse(
      coreError('PluginManifestInvalid', {
        message: `${use}: ${file}: ${what}. Expected "exports": {".": "./dist/plugin.js"}`,
        details: { package: use, file },
      }),
    );
  const target =
    exports === undefined || exports === null
      ? typeof main === 'string'
        ? main
        : 'index.js'
      : targetOf(rootExport(exports), folder);
  if (target === undefined) return invalid('"exports" offers nothing for "." to an ES module import');
  const path = resolve(folder, target);
  if (path !== folder && !path.startsWith(folder + sep)) return invalid(`${target} lies outside the package`);
  if (!existsSync(path)) return invalid(`${target} does not exist; the package was published without its build`);
  return ok(pathToFileURL(path));
}

/** `exports` may be the target of `.` itself, or conditions for it, or a map of sub-paths. */
function rootExport(exports: unknown): unknown {
  if (typeof exports !== 'object' || exports === null || Array.isArray(exports)) return exports;
  return Object.keys(exports).some((key) => key.startsWith('.'))
    ? (exports as Readonly<Record<string, unknown>>)['.']
    : exports;
}

/** The first target whose conditions hold. Sources count only where they are: a published package leaves them at home. */
function targetOf(target: unknown, folder: string): string | undefined {
  if (typeof target === 'string') return target.startsWith('./') ? target : undefined;
  if (Array.isArray(target)) {
    for (const each of target as readonly unknown[]) {
      const found = targetOf(each, folder);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (typeof target !== 'object' || target === null) return undefined;
  for (const [condition, below] of Object.entries(target)) {
    if (!CONDITIONS.includes(condition)) continue;
    const found = targetOf(below, folder);
    if (found === undefined || (condition === SOURCE_CONDITION && !existsSync(resolve(folder, found)))) continue;
    return found;
  }
  return undefined;
}
