import { messageOf, type Listener, type Logger } from '@gitops-reverser/kernel-api';

/** Tells listeners, at most once per turn, that something may differ. */
export interface Announcer {
  changed(): void;
  onChange(listener: Listener): Disposable;
}

export function announcer(logger: Logger): Announcer {
  const listeners = new Set<Listener>();
  let isAnnounced = false;
  const tell = (): void => {
    isAnnounced = false;
    for (const listener of [...listeners]) {
      try {
        listener();
      } catch (error) {
        logger.error({ err: messageOf(error) }, 'a status listener failed');
      }
    }
  };
  return {
    changed() {
      if (isAnnounced || listeners.size === 0) return;
      isAnnounced = true;
      queueMicrotask(tell);
    },
    onChange(listener) {
      // Wrapped, so that one function registered twice is two registrations.
      const entry = (): void => listener();
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
  };
}
