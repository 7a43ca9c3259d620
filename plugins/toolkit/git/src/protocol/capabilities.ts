/** What a server said it can do: names, some with values, some values several times (`symref`). */
export class Capabilities {
  readonly #valuesByName = new Map<string, string[]>();

  constructor(words: Iterable<string>) {
    for (const word of words) {
      if (word === '') continue;
      const equals = word.indexOf('=');
      const name = equals === -1 ? word : word.slice(0, equals);
      const values = this.#valuesByName.get(name) ?? [];
      if (equals !== -1) values.push(word.slice(equals + 1));
      this.#valuesByName.set(name, values);
    }
  }

  has(name: string): boolean {
    return this.#valuesByName.has(name);
  }

  values(name: string): readonly string[] {
    return this.#valuesByName.get(name) ?? [];
  }

  /** Those of `wanted` that the server knows, in that order. A capability it does not know can kill it (chapter 40, 4.6). */
  pick(wanted: readonly string[]): string[] {
    return wanted.filter((word) => this.has(word.split('=', 1)[0] ?? word));
  }
}
