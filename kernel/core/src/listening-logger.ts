import type { LogFields, Logger } from '@gitops-reverser/kernel-api';

/** A logger that passes everything on and remembers the last message, so that a failed start can say how far it came. */
export function listeningLogger(inner: Logger): { readonly logger: Logger; lastSaid(): string } {
  let last: string | undefined;
  const around = (target: Logger): Logger => {
    const at =
      (level: 'debug' | 'info' | 'warn' | 'error') =>
      (fields: LogFields, message: string): void => {
        last = message;
        target[level](fields, message);
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => around(target.child(fields)),
    };
  };
  return {
    logger: around(inner),
    lastSaid: () => (last === undefined ? 'it had logged nothing' : `the last thing it logged: ${last}`),
  };
}
