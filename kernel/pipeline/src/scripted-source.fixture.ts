import {
  cursor,
  definePlugin,
  refOf,
  type Cursor,
  type KubeObject,
  type Plugin,
  type ResourceType,
  type SourceEvent,
} from '@gitops-reverser/kernel-api';
import { configMaps, observed } from '@gitops-reverser/kernel-testing';

export interface Session {
  readonly from: Cursor | undefined;
  readonly key: string;
  /** Says something on this session. */
  say(...events: readonly SourceEvent[]): void;
  /** Ends it as a server does. */
  end(): void;
  /** Ends it with a fault that reconnecting does not cure. */
  fail(error: Error): void;
  readonly isOpen: boolean;
}

/** A source that says exactly what a test tells it to; serves the dialect `scripted`. */
export function scriptedSource(): { readonly plugin: Plugin; readonly sessions: readonly Session[]; last(): Session } {
  const sessions: Session[] = [];
  const plugin = definePlugin({ id: 'scripted', kernelApi: '^1.0', options: {} }, (on) => {
    on.source({
      serves: ['scripted'],
      needs: {},
      create: () => ({
        async *surface() {},
        async *follow(collection, from, signal) {
          const queue: (SourceEvent | Error | undefined)[] = [];
          let wake: () => void = () => undefined;
          let isOpen = true;
          const put = (event: SourceEvent | Error | undefined): void => {
            queue.push(event);
            wake();
          };
          sessions.push({
            from,
            key: `${collection.type.version}/${collection.type.resource}`,
            say: (...events) => events.forEach(put),
            end: () => put(undefined),
            fail: put,
            get isOpen() {
              return isOpen;
            },
          });
          signal.addEventListener('abort', () => wake(), { once: true });
          try {
            while (!signal.aborted) {
              if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
              if (signal.aborted || queue.length === 0) continue;
              const event = queue.shift();
              if (event === undefined) return;
              if (event instanceof Error) throw event;
              yield event;
            }
          } finally {
            isOpen = false;
          }
        },
      }),
    });
  });
  return {
    plugin,
    sessions,
    last() {
      const session = sessions.at(-1);
      if (session === undefined) throw new TypeError('nothing is followed yet');
      return session;
    },
  };
}

const at = (place: number): Cursor => cursor(String(place));
export const begin: SourceEvent = { kind: 'snapshot-begin' };
export const end = (place: number): SourceEvent => ({ kind: 'snapshot-end', cursor: at(place) });
export const progress = (place: number): SourceEvent => ({ kind: 'progress', cursor: at(place) });
export const trouble = (reason: 'ExpiredResourceVersion' | 'WatchError' | 'WatchNotPermitted'): SourceEvent => ({
  kind: 'trouble',
  reason,
  message: `told ${reason}`,
});

export function upsert(
  object: KubeObject,
  place: number,
  via: 'live' | 'snapshot' = 'live',
  type: ResourceType = configMaps,
): SourceEvent {
  const held = object.metadata.uid === undefined ? observed(object, { resourceVersion: String(place) }) : object;
  return { kind: 'upsert', ref: refOf(type, held), object: held, via, cursor: at(place) };
}
export function gone(object: KubeObject, place: number, type: ResourceType = configMaps): SourceEvent {
  const held = object.metadata.uid === undefined ? observed(object, { resourceVersion: String(place) }) : object;
  const uid = held.metadata.uid ?? '';
  return { kind: 'delete', ref: refOf(type, held), removal: 'deletion', uid, object: held, cursor: at(place) };
}
