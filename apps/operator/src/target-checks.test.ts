import { targetChecks } from './target-checks.js';

describe('types treated like Secrets', () => {
  it('are core secrets and what the operator was told of', () => {
    const { isSensitive } = targetChecks(['vault.example.test/keys']);

    expect([isSensitive('', 'secrets'), isSensitive('vault.example.test', 'keys'), isSensitive('', 'keys')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('20, 14: a malformed item stops the start instead of being dropped', () => {
    expect(() => targetChecks(['tokens', 'vault..io/keys'])).toThrow('--additional-sensitive-resources');
  });
});
