/** Why a text cannot be read or a value cannot be written. Never quotes content. */
export interface YamlProblem {
  /** `invalid-yaml` for text, `unrepresentable-value` for values. */
  readonly code: 'invalid-yaml' | 'unrepresentable-value';
  /** One line; ends with the position when there is one. */
  readonly message: string;
  /** 1-based, within the file. */
  readonly line?: number;
  /** 1-based, in UTF-16 units. */
  readonly column?: number;
}

export function invalidYaml(what: string, line?: number, column?: number): YamlProblem {
  if (line === undefined || column === undefined) return { code: 'invalid-yaml', message: what };
  return { code: 'invalid-yaml', message: `${what} at ${line}:${column}`, line, column };
}
