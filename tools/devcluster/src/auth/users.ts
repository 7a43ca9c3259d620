import { randomBytes } from 'node:crypto';
import { ApiError, refuse } from '../status.js';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface UserOption {
  readonly name: string;
  readonly groups?: readonly string[];
  /** A random one when absent. */
  readonly token?: string;
}

export const adminName = 'admin';

/** Static bearer tokens: who may come in, and under which name. */
export class Users {
  readonly #userByToken = new Map<string, User>();
  readonly #tokenByName = new Map<string, string>();

  constructor(options: readonly UserOption[]) {
    this.add({ name: adminName, groups: ['system:masters'] });
    for (const option of options) this.add(option);
  }

  /** @returns the token */
  add(option: UserOption): string {
    const token = option.token ?? randomBytes(24).toString('base64url');
    this.#userByToken.set(token, { name: option.name, groups: [...(option.groups ?? []), 'system:authenticated'] });
    this.#tokenByName.set(option.name, token);
    return token;
  }

  /** From now on the token is refused with 401. */
  revoke(name: string): void {
    const token = this.#tokenByName.get(name);
    if (token !== undefined) this.#userByToken.delete(token);
  }

  tokenOf(name: string): string {
    const token = this.#tokenByName.get(name);
    if (token === undefined)
      throw new Error(
        `devcluster: no user "${name}": expected one of ${[...this.#tokenByName.keys()].join(', ')}; pass it in options.users`,
      );
    return token;
  }

  find(token: string): User | undefined {
    return this.#userByToken.get(token);
  }

  /** Who a request comes from, after impersonation. */
  authenticate(headers: Readonly<Record<string, string | readonly string[] | undefined>>): User {
    const bearer = /^Bearer\s+(\S+)$/i.exec(one(headers['authorization']))?.[1];
    const user = bearer === undefined ? undefined : this.#userByToken.get(bearer);
    if (user === undefined) throw refuse.unauthorized();
    return impersonated(user, headers);
  }
}

function impersonated(user: User, headers: Readonly<Record<string, string | readonly string[] | undefined>>): User {
  const name = one(headers['impersonate-user']);
  const groups = many(headers['impersonate-group']);
  const extra: Record<string, readonly string[]> = {};
  for (const [header, value] of Object.entries(headers))
    if (header.startsWith('impersonate-extra-'))
      extra[decodeURIComponent(header.slice('impersonate-extra-'.length))] = many(value);
  if (name === '') {
    if (groups.length > 0 || Object.keys(extra).length > 0 || one(headers['impersonate-uid']) !== '')
      throw refuse.badRequest('requested impersonation of groups, a uid or extra without impersonating a user name');
    return user;
  }
  if (!user.groups.includes('system:masters'))
    throw new ApiError({
      code: 403,
      reason: 'Forbidden',
      message: `users "${name}" is forbidden: User "${user.name}" cannot impersonate resource "users" in API group "" at the cluster scope`,
      details: { name, kind: 'users' },
    });
  const uid = one(headers['impersonate-uid']);
  return {
    name,
    groups: [...groups, ...(groups.includes('system:authenticated') ? [] : ['system:authenticated'])],
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function one(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}
function many(value: string | readonly string[] | undefined): readonly string[] {
  // node:http joins repeated headers with a comma and a space.
  return value === undefined ? [] : typeof value === 'string' ? value.split(', ') : value;
}
