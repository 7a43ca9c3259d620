/** Replaces secrets in any text that leaves the process: logs, events, conditions, errors, HTTP answers. */
export interface Redactor {
  /** From now on `secret` is replaced in every spelling it may travel in, until the result is disposed. */
  protect(secret: string): Disposable;
  /** The text without protected secrets, URL user parts, authorization values and private keys. */
  redact(text: string): string;
}

const HIDDEN = '[redacted]';
/** Shorter secrets would blank out ordinary words and protect nobody; they are still caught inside a URL or a header. */
const SHORTEST = 3;

const URL_USER = /([a-z][a-z0-9+.-]*:\/\/)[^/\s@'"]*@/gi;
const AUTHORIZATION =
  /\b(authorization["']?\s*[:=]\s*["']?)(?:(?:basic|bearer|digest|token|negotiate)\s+)?[^\s"',;]+/gi;
const SCHEME = /\b(basic|bearer)\s+[a-z0-9+/_=.~-]{8,}/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** @param secrets protected for as long as the redactor lives */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const formsBySecret = new Map<string, { readonly forms: readonly string[]; holders: number }>();
  const redactor: Redactor = {
    protect(secret) {
      if (secret.length < SHORTEST) return { [Symbol.dispose]: () => undefined };
      const known = formsBySecret.get(secret) ?? { forms: spellings(secret), holders: 0 };
      known.holders += 1;
      formsBySecret.set(secret, known);
      let isHeld = true;
      return {
        [Symbol.dispose]: () => {
          if (!isHeld) return;
          isHeld = false;
          known.holders -= 1;
          if (known.holders === 0) formsBySecret.delete(secret);
        },
      };
    },
    redact(text) {
      let safe = text;
      const forms = [...formsBySecret.values()].flatMap((known) => known.forms).sort((a, b) => b.length - a.length);
      for (const form of forms) if (safe.includes(form)) safe = safe.replaceAll(form, HIDDEN);
      return safe
        .replace(PRIVATE_KEY, HIDDEN)
        .replace(URL_USER, `$1${HIDDEN}@`)
        .replace(AUTHORIZATION, `$1${HIDDEN}`)
        .replace(SCHEME, `$1 ${HIDDEN}`);
    },
  };
  for (const secret of secrets) redactor.protect(secret);
  return redactor;
}

/** As it is, in base64, percent-encoded in every manner in use, and JSON-escaped. */
function spellings(secret: string): readonly string[] {
  const base64 = base64Of(secret);
  const percent = encodeURIComponent(secret);
  const strict = percent.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const all = [
    secret,
    base64,
    base64.replace(/=+$/, ''),
    base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
    percent,
    encodeURI(secret),
    strict,
    strict.toLowerCase(),
    percent.replaceAll('%20', '+'),
    JSON.stringify(secret).slice(1, -1),
  ];
  return [...new Set(all)].filter((form) => form.length >= SHORTEST);
}

const base64Of = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
