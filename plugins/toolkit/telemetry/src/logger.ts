import type { LogFields, Logger, Redactor } from '@gitops-reverser/kernel-api';
import { isReverserError } from '@gitops-reverser/kernel-api';
import { pino, stdTimeFunctions, type DestinationStream, type Logger as Pino } from 'pino';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** `json`: one object a line. `pretty`: one readable line for a person at a terminal. */
  readonly format: 'json' | 'pretty';
  readonly redactor: Redactor;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/** Fields whose value is never printed, whoever logs them. */
const FORBIDDEN = [
  'password',
  'token',
  'secret',
  'authorization',
  'kubeconfig',
  'data',
  'stringData',
  'body',
  'object',
];

export function createLogger(options: LoggerOptions): Logger {
  const out = options.destination ?? process.stdout;
  const destination: DestinationStream = {
    write: (line) => {
      const safe = options.redactor.redact(line);
      out.write(options.format === 'json' ? safe : pretty(safe));
    },
  };
  const root = pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: FORBIDDEN.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
      serializers: { err: describeError },
    },
    destination,
  );
  return wrap(root);
}

function wrap(log: Pino): Logger {
  const at = (level: LogLevel) => (fields: LogFields, message: string) => log[level](fields, message);
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => wrap(log.child(fields)),
  };
}

/** Reason, message and chain of causes; the stack only of what nobody expected. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  if (isReverserError(error)) return { reason: error.reason, message: error.message, details: error.details, ...cause };
  return { reason: error.name, message: error.message, stack: error.stack, ...cause };
}

function pretty(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return (
    `${String(time).slice(11, 19)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)} ${rest.join(' ')}`.trimEnd() +
    '\n'
  );
}
