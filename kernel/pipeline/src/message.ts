import { messageOf, type TargetSettings } from '@gitops-reverser/kernel-api';
import { liveData, reconcileData, type LiveFacts, type ReconcileFacts } from './message-data.js';
import { parseTemplate, renderTemplate, type Template, type Value } from './template/index.js';

export type MessageSource = 'live' | 'reconcile' | 'template_fallback';

export interface Message {
  readonly text: string;
  readonly source: MessageSource;
  /** Why the template was not used. */
  readonly problem?: string;
}

/** The message of a window's commit: the target's own wording, or ours. */
export function liveMessage(messages: TargetSettings['messages'], facts: LiveFacts): Message {
  return withFallback(
    messages.live,
    'live',
    () => liveData(facts),
    () => defaultLive(facts),
  );
}

/** The message of a snapshot's commit. */
export function reconcileMessage(messages: TargetSettings['messages'], facts: ReconcileFacts): Message {
  return withFallback(
    messages.reconcile,
    'reconcile',
    () => reconcileData(facts),
    () => defaultReconcile(facts),
  );
}

function withFallback(
  template: string | undefined,
  source: 'live' | 'reconcile',
  data: () => Value,
  preset: () => string,
): Message {
  if (template === undefined) return { text: finished(preset()), source };
  try {
    const text = finished(renderTemplate(parsed(template), data()));
    if (text.trim() === '')
      return { text: finished(preset()), source: 'template_fallback', problem: 'it renders to nothing but whitespace' };
    if (text.includes('\0'))
      return { text: finished(preset()), source: 'template_fallback', problem: 'it renders a NUL character' };
    return { text, source };
  } catch (error) {
    return { text: finished(preset()), source: 'template_fallback', problem: messageOf(error) };
  }
}

/** 64: a handful of targets edit their wording; older texts are parsed again when they come back. */
const REMEMBERED = 64;
const templateByText = new Map<string, Template>();
function parsed(text: string): Template {
  const known = templateByText.get(text);
  if (known !== undefined) return known;
  const template = parseTemplate(text);
  if (templateByText.size >= REMEMBERED) templateByText.clear();
  templateByText.set(text, template);
  return template;
}

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
