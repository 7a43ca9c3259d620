import fc from 'fast-check';
import { authorOf } from './author.js';

const committer = { name: 'GitOps Reverser', email: 'noreply@configbutler.ai' };
const at = new Date('2026-01-01T00:00:00Z');

describe('3.5: whom the commit names', () => {
  it.each([
    {
      why: 'attribution is off',
      author: { outcome: 'not_attempted' } as const,
      name: committer.name,
      email: committer.email,
      kind: 'committer',
    },
    {
      why: 'nobody is known',
      author: { outcome: 'unresolved' } as const,
      name: 'unknown (attribution unresolved)',
      email: 'attribution-unresolved@gitops-reverser.invalid',
      kind: 'unresolved',
    },
    {
      why: 'a human with both extras',
      actor: { username: 'alice', displayName: 'Alice Ä', email: 'a@b.cd' },
      name: 'Alice Ä',
      email: 'a@b.cd',
      kind: 'user',
    },
    {
      why: 'the user name is an address itself',
      actor: { username: 'alice@example.test' },
      name: 'alice@example.test',
      email: 'alice@example.test',
      kind: 'user',
    },
    {
      why: 'the display name would break the header',
      actor: { username: 'alice', displayName: 'Alice <x@y.zz>' },
      name: 'alice',
      email: 'alice@noreply.cluster.local',
      kind: 'user',
    },
    {
      why: 'the address is none',
      actor: { username: 'Alice B', email: 'not an address' },
      name: 'Alice B',
      email: 'aliceb@noreply.cluster.local',
      kind: 'user',
    },
    {
      why: 'nothing of the name is left',
      actor: { username: '<\n>' },
      name: 'unknown-user',
      email: 'unknown-user@noreply.cluster.local',
      kind: 'user',
    },
    {
      why: 'the name is too long',
      actor: { username: 'x'.repeat(300), displayName: 'y'.repeat(255) },
      name: 'x'.repeat(254),
      email: `${'x'.repeat(300)}@noreply.cluster.local`,
      kind: 'user',
    },
    {
      why: 'a service account keeps its user name, whatever it claims',
      actor: {
        username: 'system:serviceaccount:flux-system:kustomize-controller',
        displayName: 'Somebody',
        email: 'some@body.test',
      },
      name: 'system:serviceaccount:flux-system:kustomize-controller',
      email: 'systemserviceaccountflux-systemkustomize-controller@noreply.cluster.local',
      kind: 'serviceaccount',
    },
  ])('$why', ({ author, actor, name, email, kind }) => {
    const asked = author ?? { outcome: 'resolved' as const, actor: actor ?? { username: '' } };

    expect(authorOf(asked, committer, at)).toEqual({ signature: { name, email, at }, kind });
  });

  it('is an injection boundary: no claim ever breaks out of its header', () => {
    const claims = fc.record({
      username: fc.string({ unit: 'binary' }),
      displayName: fc.string({ unit: 'binary' }),
      email: fc.string({ unit: 'binary' }),
    });
    fc.assert(
      fc.property(claims, (actor) => {
        const { name, email } = authorOf({ outcome: 'resolved', actor }, committer, at).signature;

        expect(`${name}${email}`).not.toMatch(/[\u0000-\u001f\u007f<>]/);
        expect(name.trim()).not.toBe('');
        expect(email).toContain('@');
      }),
    );
  });
});
