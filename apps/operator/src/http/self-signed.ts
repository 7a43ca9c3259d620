import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** DER, as far as one certificate needs it. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
const time = (at: Date): Buffer => der(0x17, Buffer.from(at.toISOString().replace(/[-:T]/g, '').slice(2, 14) + 'Z'));

const COMMON_NAME = oid(0x55, 0x04, 0x03);
const SUBJECT_ALT_NAME = oid(0x55, 0x1d, 0x11);
const ECDSA_WITH_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed serving certificate, made in memory and never written: one year, for `names`. */
export function selfSigned(names: readonly string[], now: Date): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(names[0] ?? 'gitops-reverser')))));
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(15)]);
  const alternatives = sequence(...names.map((text) => der(0x82, Buffer.from(text))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(new Date(now.getTime() - 60_000)), time(new Date(now.getTime() + 365 * 86_400_000))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(0x04, alternatives)))),
  );
  return { cert: pem(signed(body, privateKey)), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function signed(body: Buffer, key: KeyObject): Buffer {
  return sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), sign('sha256', body, key)));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** For the log: which certificate is served. */
export const fingerprint = (cert: string): string =>
  createHash('sha256')
    .update(Buffer.from(cert.replace(/-----[^-]+-----|\s/g, ''), 'base64'))
    .digest('hex');
