import { fakeLogger } from './fake-logger.js';

describe('fakeLogger', () => {
  it('remembers lines of children with the fields of both', () => {
    const logger = fakeLogger();

    logger.child({ branch: 'main' }).child({ plugin: 'plain' }).warn({ reason: 'Why' }, 'folder refused');

    expect(logger.lines).toEqual([
      { level: 'warn', message: 'folder refused', fields: { branch: 'main', plugin: 'plain', reason: 'Why' } },
    ]);
  });

  it('gives one text to search for secrets, errors and their causes included', () => {
    const logger = fakeLogger();

    logger.error({ err: new Error('push failed', { cause: new Error('token abc') }), size: 3n }, 'failed');

    expect(logger.text()).toContain('token abc');
  });
});
