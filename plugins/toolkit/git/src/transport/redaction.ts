export interface Redactor {
  /** The text without the secrets it knows, URL credentials and `Authorization` values. */
  (text: string): string;
}

const HIDDEN = '[redacted]';

/**
 * Makes a redactor for one session. Each secret is removed as it is, in base64 (alone and as part of `user:password`),
 * percent-encoded and JSON-escaped (chapter 40, 6.5; FC-SEC-4).
 *
 * @param secrets values that must not be seen; empty ones are ignored
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const forms = new Set<string>();
  for (const secret of secrets) {
    // One or two characters would black out ordinary words and protect nobody.
    if (secret.length < 3) continue;
    forms.add(secret);
    forms.add(Buffer.from(secret).toString('base64'));
    forms.add(Buffer.from(secret).toString('base64').replace(/=+$/, ''));
    forms.add(Buffer.from(secret).toString('base64url'));
    forms.add(encodeURIComponent(secret));
    forms.add(encodeURI(secret));
    forms.add(percentEncodeAll(secret));
    forms.add(percentEncodeAll(secret).toLowerCase());
    forms.add(encodeURIComponent(secret).replace(/%20/g, '+'));
    forms.add(JSON.stringify(secret).slice(1, -1));
  }
  const longestFirst = [...forms].filter((form) => form.length >= 3).sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const form of longestFirst) clean = clean.split(form).join(HIDDEN);
    return clean
      .replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/gi, `$1${HIDDEN}@`)
      .replace(/(authorization["']?\s*[:=]\s*["']?)(?:(?:basic|bearer|digest|token|negotiate)\s+)?[^\s"',;]+/gi, `$1${HIDDEN}`)
      .replace(/\b(basic|bearer)\s+[A-Za-z0-9+/_=.-]{8,}/gi, `$1 ${HIDDEN}`);
  };
}

/** RFC 3986: everything but unreserved characters. `encodeURIComponent` leaves `!'()*`. */
const percentEncodeAll = (text: string): string => encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** First `length` characters on one line: for messages. */
export function excerpt(text: string, length = 200): string {
  const line = text.replace(/[\0-\x1f\x7f]+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
