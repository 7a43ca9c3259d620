import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What reads. Everything else the library offers can write, or leads to something that does. */
const readers = new Set([
  ...['Lexer', 'Parser', 'Composer', 'isAlias', 'isMap', 'isScalar', 'isSeq', 'Scalar', 'ErrorCode'],
  ...['CST', 'Document', 'Node', 'ParsedNode', 'YAMLMap'],
]);
/** Of these only the types may be named. */
const typesOnly = ['CST', 'Document', 'ParsedNode', 'YAMLMap'];
const readingOfTokens = new Set(['isCollection', 'isScalar', 'resolveAsScalar']);

/** Why a source could emit YAML on its own. */
function emitters(source: string): string[] {
  const found: string[] = [];
  const code = source.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
  const library = /['"`](?:yaml(?:\/[^'"`]*)?|js-yaml|yaml-ast-parser|json-to-pretty-yaml)['"`]/;
  for (const statement of code.match(/^(?:import|export)\b[^;]*;/gm) ?? []) {
    if (!library.test(statement)) continue;
    const names = /^import (?:type )?\{(?<names>[^}]*)\} from 'yaml';$/.exec(statement)?.groups?.['names'];
    if (names === undefined) found.push('an import that names nothing');
    for (const name of names?.split(',').map((each) => each.trim().replace(/^type /, '')) ?? [])
      if (name !== '' && !readers.has(name)) found.push(name);
  }
  const rest = code.replace(/^(?:import|export)\b[^;]*;/gm, '');
  if (new RegExp(`(?:import|require|createRequire)\\s*\\([^)]*${library.source}`).test(rest))
    found.push('a hidden import');
  for (const [, name = ''] of rest.matchAll(/\bCST\.(\w+)/g))
    if (!/^[A-Z]/.test(name) && !readingOfTokens.has(name)) found.push(`CST.${name}`);
  for (const name of typesOnly) if (new RegExp(`\\bnew ${name}\\b`).test(rest)) found.push(`new ${name}`);
  if (library.test(code) && /\.toString\(|\bstringify\b|\.toJS\(/.test(rest)) found.push('a method that writes');
  return found;
}

const isSource = (name: string): boolean => name.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(name);
const sources = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : isSource(entry.name) ? [path] : [];
  });

const packages = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const { name } = entry;
    if (name === 'package.json') return [join(folder, name)];
    return ['node_modules', 'dist', 'src', 'fixtures', 'out-tsc'].includes(name) || !entry.isDirectory()
      ? []
      : packages(join(folder, name));
  });

describe('chapter 20, 4.3: one emitter', () => {
  it('nothing here writes with the library, which only this package may import', () => {
    const all = sources(import.meta.dirname);

    const found = all
      .map((path) => [relative(import.meta.dirname, path), emitters(readFileSync(path, 'utf8'))] as const)
      .filter(([, why]) => why.length > 0);

    expect(found).toEqual([]);
    expect(all.some((path) => readFileSync(path, 'utf8').includes("from 'yaml'"))).toBe(true);
    expect(all.some((path) => path.includes('edit'))).toBe(true);
  });

  it('no other package has a library that could', () => {
    const root = join(import.meta.dirname, ...Array<string>(4).fill('..'));
    const manifests = ['kernel', 'plugins', 'crds', 'apps'].flatMap((folder) => packages(join(root, folder)));

    const withLibrary = manifests.filter((path) => {
      const { dependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as { dependencies?: object };
      return Object.keys(dependencies).some((name) => /yaml/i.test(name) && !name.startsWith('@gitops-reverser/'));
    });

    expect(withLibrary.map((path) => relative(root, path))).toEqual([
      join('plugins', 'toolkit', 'yaml', 'package.json'),
    ]);
    expect(manifests.length).toBeGreaterThan(10);
  });

  it.each([
    "import { stringify } from 'yaml';",
    "import { stringify as text } from 'yaml';",
    "import { Lexer, parseDocument } from 'yaml';",
    "import * as library from 'yaml';",
    "import library from 'yaml';",
    "import { Lexer } from 'yaml/util';",
    "import { dump } from 'js-yaml';",
    "export { stringify } from 'yaml';",
    "const { stringify } = await import('yaml');",
    "const { stringify } = require('yaml');",
    "import { CST } from 'yaml';\nconst text = CST.stringify(token);",
    "import { CST } from 'yaml';\nCST.setScalarValue(token, 'x');",
    "import { Document } from 'yaml';\nnew Document(1);",
    "import type { Document } from 'yaml';\nconst text = (document: Document) => document.toString();",
    "import { Scalar } from 'yaml';\nconst text = new Scalar('x').toString();",
  ])('and %j would be noticed', (source) => {
    expect(emitters(`${source}\n`)).not.toEqual([]);
  });
});
