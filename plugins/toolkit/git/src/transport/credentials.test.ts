import { createRedactor } from '@gitops-reverser/kernel-api';
import { authorizationOf, secretsOf } from './credentials.js';

describe('secretsOf', () => {
  it('knows the pair of a basic credential, which is what the header holds', () => {
    const { redact } = createRedactor(secretsOf({ kind: 'basic', username: 'ada', password: 'hunter2' }));

    expect(redact(Buffer.from('ada:hunter2').toString('base64'))).toBe('[redacted]');
  });
});

describe('authorizationOf', () => {
  it('6.2: sends a bearer token as the hosts want it', () => {
    const token = { kind: 'bearer', token: 't0ken' } as const;
    const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

    expect([
      authorizationOf(token, 'git.test'),
      authorizationOf(token, 'github.com'),
      authorizationOf(token, 'gitlab.com'),
    ]).toEqual(['Bearer t0ken', basic('x-access-token:t0ken'), basic('oauth2:t0ken')]);
  });
});
