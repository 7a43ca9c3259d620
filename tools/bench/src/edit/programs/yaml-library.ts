import { loadBundled } from './child.js';

/** Of the rival what its user needs: the library as it is, with the options closest to leaving a text alone. */
export interface YamlLibrary {
  parseAllDocuments(text: string): readonly YamlLibraryDocument[];
}

export interface YamlLibraryDocument {
  getIn(path: readonly string[]): unknown;
  setIn(path: readonly (string | number)[], value: unknown): void;
  toString(options: { readonly lineWidth: number }): string;
}

/** The very copy toolkit-yaml stands on. */
export async function openYamlLibrary(): Promise<YamlLibrary> {
  const { default: library } = await loadBundled<{ readonly default: YamlLibrary }>('yaml');
  return library;
}

/** The whole file through the library's documents; each writes the separator it had. */
export function toText(all: readonly YamlLibraryDocument[]): string {
  return all.map((document) => document.toString({ lineWidth: 0 })).join('');
}
