import { type KeyObject, createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { der } from './der.js';

export interface ServerIdentity {
  /** PEM of the authority that signed the certificate: what clients trust. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const oid = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  subjectAltName: '2.5.29.17',
  subjectKeyId: '2.5.29.14',
  authorityKeyId: '2.5.29.35',
} as const;

/** A throw-away authority and a certificate for loopback, valid for a day before and ten years after now. */
export function createServerIdentity(hosts: readonly string[]): ServerIdentity {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const authorityId = keyId(authority.publicKey);
  const ca = certificate({
    issuer: 'devcluster-ca',
    subject: 'devcluster-ca',
    publicKey: authority.publicKey,
    signer: authority.privateKey,
    extensions: [
      extension(oid.basicConstraints, true, der.sequence(der.boolean(true))),
      // digitalSignature, keyCertSign, cRLSign
      extension(oid.keyUsage, true, der.bits(Buffer.from([0b1000_0110]), 1)),
      extension(oid.subjectKeyId, false, der.octets(authorityId)),
    ],
  });
  const leaf = certificate({
    issuer: 'devcluster-ca',
    subject: 'devcluster',
    publicKey: server.publicKey,
    signer: authority.privateKey,
    extensions: [
      extension(oid.basicConstraints, true, der.sequence()),
      extension(oid.keyUsage, true, der.bits(Buffer.from([0b1000_0000]), 7)),
      extension(oid.extendedKeyUsage, false, der.sequence(der.objectId(oid.serverAuth))),
      extension(oid.subjectAltName, false, der.sequence(...hosts.map(altName))),
      extension(oid.authorityKeyId, false, der.sequence(der.implicit(0, authorityId))),
    ],
  });
  return { ca, certificate: leaf, key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

interface CertificateParts {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
}

function certificate(parts: CertificateParts): string {
  const algorithm = der.sequence(der.objectId(oid.ecdsaWithSha256));
  const nowMs = Date.now();
  const dayMs = 86_400_000;
  const body = der.sequence(
    der.explicit(0, der.integer(2)),
    der.integer(randomBytes(16)),
    algorithm,
    name(parts.issuer),
    der.sequence(der.utcTime(new Date(nowMs - dayMs)), der.utcTime(new Date(nowMs + 3650 * dayMs))),
    name(parts.subject),
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...parts.extensions)),
  );
  const whole = der.sequence(body, algorithm, der.bits(sign('sha256', body, parts.signer)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function name(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.objectId(oid.commonName), der.utf8(commonName))));
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  return der.sequence(der.objectId(id), ...(isCritical ? [der.boolean(true)] : []), der.octets(value));
}

function altName(host: string): Buffer {
  return isIPv4(host)
    ? der.implicit(7, Buffer.from(host.split('.').map(Number)))
    : host === '::1'
      ? der.implicit(7, Buffer.from([...Array<number>(15).fill(0), 1]))
      : der.implicit(2, Buffer.from(host));
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}
