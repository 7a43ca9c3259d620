import type { User, Users } from '../auth/users.js';
import type { Faults } from '../faults.js';
import { type JsonObject, isObject, textOf, valueAt } from '../object.js';
import type { ResourceType } from '../resources/resource-type.js';
import type { RequestInfo } from './request-info.js';

/** Resources whose answer is computed from the question. Nothing of them is stored. */
export function answerReview(
  type: ResourceType,
  body: JsonObject,
  user: User,
  users: Users,
  faults: Faults,
): JsonObject {
  const head = { kind: type.kind, apiVersion: `${type.group}/${type.version}`, metadata: {} };
  const spec = isObject(body['spec']) ? body['spec'] : {};
  switch (type.kind) {
    case 'SelfSubjectReview':
      return { ...head, status: { userInfo: userInfo(user) } };
    case 'SelfSubjectAccessReview':
      return { ...head, spec, status: accessStatus(spec, user, faults) };
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview': {
      const groups = spec['groups'];
      const subject = { name: textOf(spec['user']), groups: Array.isArray(groups) ? groups.map(textOf) : [] };
      return { ...head, spec, status: accessStatus(spec, subject, faults) };
    }
    case 'TokenReview': {
      const found = users.find(textOf(spec['token']));
      return {
        ...head,
        spec,
        status:
          found === undefined
            ? { user: {}, error: 'the token is not known' }
            : { authenticated: true, user: userInfo(found) },
      };
    }
    default:
      return {
        ...head,
        spec,
        status: {
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
          incomplete: false,
        },
      };
  }
}

function userInfo(user: User): JsonObject {
  return {
    username: user.name,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: user.groups,
    ...(user.extra === undefined ? {} : { extra: user.extra }),
  };
}

/** Everything is allowed that no deny rule forbids: this server has no RBAC. */
function accessStatus(spec: JsonObject, user: User, faults: Faults): JsonObject {
  const attributes = valueAt(spec, 'resourceAttributes');
  const at = (name: string) => textOf(valueAt(attributes, name));
  const verb = at('verb');
  const info: RequestInfo = isObject(attributes)
    ? {
        kind: 'resource',
        verb: verb === '*' || verb === '' ? 'get' : (verb as 'get'),
        group: at('group'),
        version: at('version') || 'v1',
        resource: at('resource'),
        namespace: at('namespace') || undefined,
        name: at('name'),
        subresource: at('subresource'),
      }
    : {
        kind: 'path',
        verb: textOf(valueAt(spec, 'nonResourceAttributes', 'verb')),
        path: textOf(valueAt(spec, 'nonResourceAttributes', 'path')),
      };
  return faults.wouldDeny(info, user)
    ? { allowed: false, denied: true, reason: 'a deny rule of the devcluster forbids it' }
    : { allowed: true, reason: 'the devcluster allows what no deny rule forbids' };
}
