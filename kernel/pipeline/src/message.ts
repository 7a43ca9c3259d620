import type { LiveFacts, ReconcileFacts } from './message-data.js';

export type MessageSource = 'live' | 'reconcile' | 'template_fallback';

export interface Message {
  readonly text: string;
  readonly source: MessageSource;
  /** Why the template was not used. */
  readonly problem?: string;
}

/** The message of a window's commit. */
export const liveMessage = (facts: LiveFacts): Message => ({ text: finished(defaultLive(facts)), source: 'live' });

/** The message of a snapshot's commit. */
export const reconcileMessage = (facts: ReconcileFacts): Message => ({
  text: finished(defaultReconcile(facts)),
  source: 'reconcile',
});

/** Right-trimmed, one newline. */
const finished = (text: string): string => `${text.trimEnd()}\n`;

function defaultLive({ entries }: LiveFacts): string {
  const lines = entries.map(
    (entry) => `- [${entry.operation}] ${entry.apiVersion}/${entry.resource}/${entry.namespace}/${entry.name}`,
  );
  return `chore: sync ${entries.length} resource(s)\n\n${lines.join('\n')}`;
}

function defaultReconcile({ count, resource, namespace, resourceVersion }: ReconcileFacts): string {
  const where = namespace === '' ? '' : ` in ${namespace}`;
  const until = resourceVersion === '' ? '' : ` (last resourceVersion: ${resourceVersion})`;
  return `chore: reconcile ${count} ${resource === '' ? 'resources' : resource}${where}${until}`;
}
