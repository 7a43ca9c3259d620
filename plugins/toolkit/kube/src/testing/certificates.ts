import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate for `localhost` and 127.0.0.1, made for one test run; it is its own authority. */
export function selfSigned(commonName = 'stub'): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid('550403'), tlv(0x0c, Buffer.from(commonName)))));
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const validity = sequence(utcTime('250101000000Z'), utcTime('491231235959Z'));
  const alternatives = sequence(tlv(0x82, Buffer.from('localhost')), tlv(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = sequence(
    extension('551d11', alternatives),
    extension('551d13', sequence(tlv(0x01, Buffer.from([0xff])))),
  );
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, extensions),
  );
  const signature = sign('sha256', body, privateKey);
  const der = sequence(body, algorithm, tlv(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const base64 = der.toString('base64').replaceAll(/(.{64})/g, '$1\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.trim()}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, Buffer.concat(parts));
const set = (...parts: readonly Buffer[]): Buffer => tlv(0x31, Buffer.concat(parts));
const integer = (bytes: Buffer): Buffer => tlv(0x02, bytes);
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'));
const utcTime = (text: string): Buffer => tlv(0x17, Buffer.from(text));
const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), tlv(0x04, value));
