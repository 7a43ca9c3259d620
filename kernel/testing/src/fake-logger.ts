import type { LogFields, Logger } from '@gitops-reverser/kernel-api';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** Fields of the line over those of its `child` loggers. */
  readonly fields: LogFields;
}

export interface FakeLogger extends Logger {
  /** Everything said so far by this logger and its children, in order. */
  readonly lines: readonly LogLine[];
  /** Lines with exactly this message. */
  said(message: string): readonly LogLine[];
  /** Everything said, as one text: search it for what must never be logged. */
  text(): string;
  clear(): void;
}

/** A logger that remembers. Children share its memory. */
export function fakeLogger(): FakeLogger {
  const lines: LogLine[] = [];
  const withFields = (inherited: LogFields): FakeLogger => {
    const at =
      (level: LogLevel) =>
      (fields: LogFields, message: string): void => {
        lines.push({ level, message, fields: { ...inherited, ...fields } });
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => withFields({ ...inherited, ...fields }),
      lines,
      said: (message) => lines.filter((line) => line.message === message),
      text: () => lines.map(asText).join('\n'),
      clear: () => void lines.splice(0),
    };
  };
  return withFields({});
}

function asText({ level, message, fields }: LogLine): string {
  const seen = new Set<unknown>();
  const readable = (_key: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return '[seen]';
    seen.add(value);
    return value instanceof Error
      ? { ...value, name: value.name, message: value.message, stack: value.stack, cause: value.cause }
      : value;
  };
  return `${level} ${message} ${JSON.stringify(fields, readable)}`;
}
