import { createGunzip } from 'node:zlib';
import type { Readable } from 'node:stream';
import { transportError } from './transport-error.js';

/** Reads a whole body, decompressed; every limit counts decompressed bytes (30, SC-19). */
export async function readBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
  asked: string,
): Promise<Buffer> {
  const source = decoded(body, encoding, asked);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw transportError(asked, 'ResponseTooLarge', { found: `more than ${maxBytes} bytes` });
      chunks.push(chunk);
    }
  } finally {
    source.destroy();
    body.destroy();
  }
  return Buffer.concat(chunks, length);
}

function decoded(body: Readable, encoding: string | undefined, asked: string): Readable {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  if (name !== 'gzip' && name !== 'x-gzip') {
    // Ours to end: an error listener must outlive the destroy.
    body.on('error', () => undefined).destroy();
    throw transportError(asked, 'MalformedResponse', {
      found: `content encoding ${name.slice(0, 40)}, asked for gzip or identity`,
    });
  }
  const gunzip = createGunzip();
  body.on('error', (error) => gunzip.destroy(error));
  return body.pipe(gunzip);
}
