export { type Devcluster, type DevclusterOptions, startDevcluster } from './cluster.js';
export type { User, UserOption } from './auth/users.js';
export { type Fault, Faults, type RequestMatch, type WatchMatch } from './faults.js';
export { type RecordedRequest, type RequestFilter, RequestLog } from './http/request-log.js';
export type { ParseYaml } from './http/body-reader.js';
export type { Json, JsonObject, KubeObject, ObjectMeta } from './object.js';
export type { LooseObject } from './objects/in-process.js';
