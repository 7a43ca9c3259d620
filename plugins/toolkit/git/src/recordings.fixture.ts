import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', 'recordings');

export interface RecordedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly location: string | undefined;
  readonly body: Buffer;
}

export function readIndex<Row>(folder: 'adv' | 'fetch' | 'push'): readonly Row[] {
  return JSON.parse(readFileSync(join(ROOT, folder, 'index.json'), 'utf8')) as Row[];
}

export function readAnswer(file: string): RecordedAnswer {
  const raw = readFileSync(join(ROOT, file));
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, end).split('\r\n');
  const header = (name: string): string | undefined =>
    head
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  return {
    status: Number(head[0]?.split(' ')[1]),
    contentType: header('content-type') ?? '',
    location: header('location'),
    body: raw.subarray(end + 4),
  };
}

/** The body in pieces of `size` bytes: a packet may be split anywhere. */
export async function* inPieces(body: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += size) {
    await Promise.resolve();
    yield body.subarray(at, at + size);
  }
}
