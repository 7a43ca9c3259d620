import type { JsonObject, KubeObject, MutableJson } from '../object.js';

/** Events have two APIs and one store; these are the fields whose names differ. */
const coreNameByName: Readonly<Record<string, string>> = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};
const nameByCoreName = Object.fromEntries(Object.entries(coreNameByName).map(([name, core]) => [core, name]));

function renamed(object: JsonObject, apiVersion: string, names: Readonly<Record<string, string>>): KubeObject {
  const found: MutableJson = {};
  for (const [key, value] of Object.entries(object)) found[names[key] ?? key] = value;
  return { ...found, apiVersion } as unknown as KubeObject;
}

export const toCoreEvent = (object: KubeObject): KubeObject => renamed(object, 'v1', coreNameByName);
export const fromCoreEvent = (object: KubeObject): KubeObject => renamed(object, 'events.k8s.io/v1', nameByCoreName);
