/** A template that cannot be read or rendered. The position is that of the construct, counted from 1. */
export class TemplateError extends Error {
  readonly line: number;
  readonly column: number;
  readonly problem: string;

  constructor(problem: string, line: number, column: number) {
    super(`${line}:${column}: ${problem}`);
    this.name = 'TemplateError';
    this.problem = problem;
    this.line = line;
    this.column = column;
  }
}

export function errorAt(text: string, offset: number, problem: string): TemplateError {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return new TemplateError(problem, line, offset - (before.lastIndexOf('\n') + 1) + 1);
}
