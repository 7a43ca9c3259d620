import { createRedactor } from './redaction.js';

describe('redactor (FC-SEC-4)', () => {
  it.each([
    { name: 'user part of a URL', text: 'fetch https://bot:hunter2@git.example.test/a.git failed', leak: 'hunter2' },
    { name: 'a user alone', text: 'fetch https://tok3n-value@git.example.test/a.git failed', leak: 'tok3n-value' },
    { name: 'an authorization header', text: '{"authorization":"Basic Ym90Omh1bnRlcjI="}', leak: 'Ym90Omh1bnRlcjI' },
    { name: 'a bearer token in prose', text: 'server said: Bearer abcdef.123456 is expired', leak: 'abcdef.123456' },
    {
      name: 'a private key',
      text: 'x -----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY----- y',
      leak: 'AAAA',
    },
  ])('hides $name without being told', ({ text, leak }) => {
    const redactor = createRedactor();

    expect(redactor.redact(text)).not.toContain(leak);
  });

  it.each([
    { form: 'plain', spell: (secret: string) => secret },
    { form: 'percent-encoded by RFC 3986', spell: (secret: string) => encodeURIComponent(secret).replace(/'/g, '%27') },
    { form: 'JSON-escaped', spell: (secret: string) => JSON.stringify(secret).slice(1, -1) },
    {
      form: 'in unpadded base64',
      spell: (secret: string) => Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    },
    { form: 'percent-encoded', spell: (secret: string) => encodeURIComponent(secret) },
    { form: 'base64', spell: (secret: string) => Buffer.from(secret).toString('base64') },
  ])('hides a protected secret spelled $form, until it is no longer protected', ({ spell }) => {
    const secret = 'pa^ss/w%rd\'é"';
    const redactor = createRedactor();
    const held = redactor.protect(secret);
    const again = redactor.protect(secret);

    held[Symbol.dispose]();
    const whileHeld = redactor.redact(`said: ${spell(secret)}!`);
    again[Symbol.dispose]();

    expect(whileHeld).toBe('said: [redacted]!');
    expect(redactor.redact(`said: ${spell(secret)}!`)).toContain(spell(secret));
  });

  it('leaves ordinary text alone', () => {
    const text = 'branch main moved: expected 1f3c, found 9a0e; it will be replayed on the new tip';

    expect(createRedactor().redact(text)).toBe(text);
  });
});
