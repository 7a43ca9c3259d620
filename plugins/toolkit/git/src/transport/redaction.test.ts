import { authorizationOf, secretsOf } from './credentials.js';
import { createRedactor, excerpt } from './redaction.js';

describe('createRedactor', () => {
  const secret = "pa^ss/w%rd'é\"";

  it.each([
    { form: 'as it is', text: secret },
    { form: 'in base64', text: Buffer.from(secret).toString('base64') },
    { form: 'in unpadded base64', text: Buffer.from(secret).toString('base64').replace(/=+$/, '') },
    { form: 'percent-encoded', text: encodeURIComponent(secret) },
    { form: 'percent-encoded by RFC 3986', text: encodeURIComponent(secret).replace(/'/g, '%27') },
    { form: 'percent-encoded in lower case', text: encodeURIComponent(secret).replace(/'/g, '%27').toLowerCase() },
    { form: 'JSON-escaped', text: JSON.stringify(secret).slice(1, -1) },
  ])('FC-SEC-4: hides a secret $form', ({ text }) => {
    expect(createRedactor([secret])(`before ${text} after`)).toBe('before [redacted] after');
  });

  it.each([
    { text: 'https://user:token@git.test/a', clean: 'https://[redacted]@git.test/a' },
    { text: 'ssh://git@git.test/a', clean: 'ssh://[redacted]@git.test/a' },
    { text: 'authorization: Basic YWRhOnNlY3JldA==', clean: 'authorization: [redacted]' },
    { text: '{"Authorization":"Bearer abc.def.ghi"}', clean: '{"Authorization":"[redacted]"}' },
    { text: 'sent Bearer abc.def.ghi-jkl', clean: 'sent Bearer [redacted]' },
    { text: 'pre-receive hook declined', clean: 'pre-receive hook declined' },
  ])('without knowing any secret: $text', ({ text, clean }) => {
    expect(createRedactor()(text)).toBe(clean);
  });

  it('is not led to black out everything by an empty or tiny secret', () => {
    expect(createRedactor(['', 'a'])('a plain word')).toBe('a plain word');
  });

  it('knows the pair of a basic credential, which is what the header holds', () => {
    const redact = createRedactor(secretsOf({ kind: 'basic', username: 'ada', password: 'hunter2' }));

    expect(redact(Buffer.from('ada:hunter2').toString('base64'))).toBe('[redacted]');
  });
});

describe('authorizationOf', () => {
  it('6.2: sends a bearer token as the hosts want it', () => {
    const token = { kind: 'bearer', token: 't0ken' } as const;
    const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

    expect([authorizationOf(token, 'git.test'), authorizationOf(token, 'github.com'), authorizationOf(token, 'gitlab.com')]).toEqual(['Bearer t0ken', basic('x-access-token:t0ken'), basic('oauth2:t0ken')]);
  });
});

describe('excerpt', () => {
  it('is one bounded line without control characters', () => {
    expect(excerpt(`a\r\nb\u001b[31m${'x'.repeat(300)}`, 10)).toBe('a b [31mx…');
  });
});
