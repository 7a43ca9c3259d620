import { createRedactor, ReverserError } from '@gitops-reverser/kernel-api';
import { createLogger } from './logger.js';

function capture(format: 'json' | 'pretty', level: 'info' | 'debug' = 'info') {
  const lines: string[] = [];
  const redactor = createRedactor();
  const logger = createLogger({ level, format, redactor, destination: { write: (line) => void lines.push(line) } });
  return { lines, redactor, logger };
}

describe('logger', () => {
  it('writes one JSON object a line with level, time and the fields of its parents', () => {
    const { lines, logger } = capture('json');

    logger.child({ component: 'branch' }).info({ branch: 'a/main' }, 'published');

    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.any(String),
      component: 'branch',
      branch: 'a/main',
      msg: 'published',
    });
  });

  it('never prints object content or secrets, whoever logs them', () => {
    const { lines, logger, redactor } = capture('json');
    redactor.protect('canary-secret');

    logger.info({ data: { k: 'canary-data' }, req: { token: 'canary-token' }, note: 'got canary-secret' }, 'x');

    expect(lines.join('')).not.toMatch(/canary/);
  });

  it('tells reason, message and causes of a known fault, and no stack', () => {
    const { lines, logger } = capture('json');
    const err = new ReverserError({
      reason: 'RemoteUnavailable',
      retry: 'backoff',
      message: 'no answer',
      cause: new Error('ECONNREFUSED'),
    });

    logger.warn({ err }, 'push failed');

    const line = JSON.parse(lines[0] ?? '') as { err: Record<string, unknown> };
    expect(line.err).toMatchObject({
      reason: 'RemoteUnavailable',
      message: 'no answer',
      cause: { message: 'ECONNREFUSED' },
    });
    expect(line.err['stack']).toBeUndefined();
  });

  it('keeps quiet below its level', () => {
    const { lines, logger } = capture('json');

    logger.debug({}, 'detail');

    expect(lines).toEqual([]);
  });

  it('prints a readable line in pretty format', () => {
    const { lines, logger } = capture('pretty');

    logger.info({ branch: 'a/main' }, 'published');

    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d INFO {2}published branch=a\/main\n$/);
  });
});
