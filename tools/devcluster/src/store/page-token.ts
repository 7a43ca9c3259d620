import { refuse } from '../status.js';

/** Where the next page starts, and at which version it must be read; version -1 means "whatever is newest". */
export interface PageToken {
  readonly version: number;
  readonly afterKey: string;
}

export function encodePageToken(token: PageToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.version, start: token.afterKey })).toString(
    'base64url',
  );
}

export function decodePageToken(text: string): PageToken {
  try {
    const found = JSON.parse(Buffer.from(text, 'base64url').toString()) as {
      v?: unknown;
      rv?: unknown;
      start?: unknown;
    };
    if (found.v === 'meta.k8s.io/v1' && typeof found.rv === 'number' && typeof found.start === 'string')
      return { version: found.rv, afterKey: found.start };
  } catch {
    // Falls through to the refusal: what the token contains is nobody's business.
  }
  throw refuse.badRequest('continue key is not valid: it is not a token this server has given');
}
