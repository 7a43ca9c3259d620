/** Resolved for one session and forgotten with it. */
export type GitCredentials =
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'bearer'; readonly token: string };

/** Hosts whose Git endpoints want a token as a password (chapter 40, 6.2). */
const TOKEN_USER_BY_HOST: Readonly<Record<string, string>> = { 'github.com': 'x-access-token', 'gitlab.com': 'oauth2' };

export function authorizationOf(credentials: GitCredentials, hostname: string): string {
  if (credentials.kind === 'basic') return basic(credentials.username, credentials.password);
  const user = TOKEN_USER_BY_HOST[hostname.toLowerCase()];
  return user === undefined ? `Bearer ${credentials.token}` : basic(user, credentials.token);
}

/** What a redactor must know; the base64 of the pair stands in the header. */
export function secretsOf(credentials: GitCredentials | undefined, hostname = ''): readonly string[] {
  if (credentials === undefined) return [];
  const header = authorizationOf(credentials, hostname).replace(/^\w+ /, '');
  return credentials.kind === 'basic' ? [credentials.password, header] : [credentials.token, header];
}

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
