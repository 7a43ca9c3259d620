/** Replaces secrets in any text that leaves the process: logs, events, conditions, HTTP answers. */
export interface Redactor {
  /** From now on `secret` is replaced in its plain, base64 and percent-encoded form, until the result is disposed. */
  protect(secret: string): Disposable;
  redact(text: string): string;
}

const HIDDEN = '[redacted]';
/** Shorter secrets would blank out ordinary words; they are still caught as part of a URL or header. */
const SHORTEST = 4;

const URL_USER = /([a-z][a-z0-9+.-]*:\/\/)[^/\s@'"]*@/gi;
const AUTHORIZATION = /\b(authorization["']?\s*[:=]\s*["']?)(?:(?:basic|bearer|token|negotiate)\s+)?[^\s"',;]+/gi;
const BEARER = /\b(bearer|basic)\s+[a-z0-9+/_=.~-]{8,}/gi;
const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

export function createRedactor(): Redactor {
  const formsBySecret = new Map<string, { readonly forms: readonly string[]; holders: number }>();
  return {
    protect(secret) {
      if (secret.length < SHORTEST) return { [Symbol.dispose]: () => undefined };
      const known = formsBySecret.get(secret) ?? { forms: spellings(secret), holders: 0 };
      known.holders += 1;
      formsBySecret.set(secret, known);
      let held = true;
      return {
        [Symbol.dispose]: () => {
          if (!held) return;
          held = false;
          known.holders -= 1;
          if (known.holders === 0) formsBySecret.delete(secret);
        },
      };
    },
    redact(text) {
      let safe = text;
      for (const { forms } of formsBySecret.values()) {
        for (const form of forms) if (safe.includes(form)) safe = safe.replaceAll(form, HIDDEN);
      }
      return safe
        .replace(PEM, HIDDEN)
        .replace(URL_USER, `$1${HIDDEN}@`)
        .replace(AUTHORIZATION, `$1${HIDDEN}`)
        .replace(BEARER, `$1 ${HIDDEN}`);
    },
  };
}

function spellings(secret: string): readonly string[] {
  const base64 = Buffer.from(secret, 'utf8').toString('base64');
  const all = [
    secret,
    encodeURIComponent(secret),
    encodeURI(secret),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret, 'utf8').toString('base64url'),
  ];
  return [...new Set(all)].filter((form) => form.length >= SHORTEST).sort((a, b) => b.length - a.length);
}
