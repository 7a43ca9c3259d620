export interface Account {
  /** For basic authentication; an account without a user name accepts any name, as token hosts do. */
  readonly user?: string;
  readonly password?: string;
  /** For `Authorization: Bearer`. */
  readonly bearer?: string;
  readonly may: 'read' | 'write';
}

/** Who may do what with one repository. */
export interface Access {
  readonly anonymous: 'none' | 'read' | 'write';
  readonly accounts?: readonly Account[];
}

export const openAccess: Access = { anonymous: 'write' };

export type AuthorizationScheme = 'none' | 'basic' | 'bearer' | 'other';

export type Admission =
  | { readonly status: 'admitted'; readonly user: string }
  | { readonly status: 'unauthorized' }
  | { readonly status: 'forbidden' };

export function schemeOf(authorization: string | undefined): AuthorizationScheme {
  if (authorization === undefined) return 'none';
  const scheme = authorization.split(' ', 1)[0]?.toLowerCase();
  return scheme === 'basic' || scheme === 'bearer' ? scheme : 'other';
}

/**
 * Decides as Git hosts do: wrong credentials are 401 even where anonymous reading is allowed; a reader's push is 403. A
 * repository without accounts ignores credentials, as a bare `git http-backend` does.
 */
export function admit(access: Access, authorization: string | undefined, isPush: boolean): Admission {
  if (authorization === undefined || access.accounts === undefined) {
    const isEnough = access.anonymous === 'write' || (access.anonymous === 'read' && !isPush);
    return isEnough ? { status: 'admitted', user: 'anonymous' } : { status: 'unauthorized' };
  }
  const account = access.accounts.find((candidate) => matches(candidate, authorization));
  if (account === undefined) return { status: 'unauthorized' };
  if (isPush && account.may === 'read') return { status: 'forbidden' };
  return { status: 'admitted', user: account.user ?? 'token' };
}

function matches(account: Account, authorization: string): boolean {
  const value = authorization.slice(authorization.indexOf(' ') + 1).trim();
  switch (schemeOf(authorization)) {
    case 'bearer':
      return account.bearer !== undefined && account.bearer === value;
    case 'basic': {
      const pair = Buffer.from(value, 'base64').toString();
      const colon = pair.indexOf(':');
      const [user, password] = colon === -1 ? [pair, ''] : [pair.slice(0, colon), pair.slice(colon + 1)];
      return (
        account.password !== undefined &&
        account.password === password &&
        (account.user === undefined || account.user === user)
      );
    }
    case 'none':
    case 'other':
      return false;
  }
}
