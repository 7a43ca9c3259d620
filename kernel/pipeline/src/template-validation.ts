import type { TargetSettings } from '@gitops-reverser/kernel-api';
import { liveData, reconcileData, type LiveFacts, type MessageEntry, type ReconcileFacts } from './message-data.js';
import { fieldsOf } from './template/fields.js';
import { parseTemplate, renderTemplate, TemplateError, type Template, type Value } from './template/index.js';
import { errorAt } from './template/template-error.js';

export type TemplateName = 'liveTemplate' | 'requestTemplate' | 'reconcileTemplate';

/** What is wrong with a template, where, and with which sample. */
export interface TemplateProblem {
  readonly template: TemplateName;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Parses each template and renders it over samples of what it will see. One problem per template, the first. */
export function validateTemplates(messages: TargetSettings['messages']): readonly TemplateProblem[] {
  const problems: (TemplateProblem | undefined)[] = [];
  if (messages.live !== undefined) problems.push(check('liveTemplate', messages.live, windows('')));
  if (messages.request !== undefined)
    problems.push(check('requestTemplate', messages.request, windows(SENTINEL), SENTINEL));
  if (messages.reconcile !== undefined) problems.push(check('reconcileTemplate', messages.reconcile, RECONCILES));
  return problems.filter((problem) => problem !== undefined);
}

interface Sample {
  readonly name: string;
  readonly data: Value;
}

/** Spellings of earlier releases and what took their place. */
const RETIRED: ReadonlyMap<string, string> = new Map([['Revision', 'ResourceVersion']]);

/** Whatever a message holds is data: it must come out as it went in. */
const SENTINEL = 'a message with "quotes", {{braces}} and\na second line';

function check(
  name: TemplateName,
  text: string,
  samples: readonly Sample[],
  mustAppear?: string,
): TemplateProblem | undefined {
  const problem = (error: TemplateError, sample?: string): TemplateProblem => ({
    template: name,
    line: error.line,
    column: error.column,
    message: `${name} ${error.line}:${error.column}: ${error.problem}${sample === undefined ? '' : ` (rendering a sample of ${sample})`}`,
  });
  let template: Template;
  try {
    template = parseTemplate(text);
  } catch (error) {
    if (error instanceof TemplateError) return problem(error);
    throw error;
  }
  for (const { name: field, at } of fieldsOf(template)) {
    const replacement = RETIRED.get(field);
    if (replacement !== undefined) return problem(errorAt(text, at, `.${field} is retired: use .${replacement}`));
  }
  for (const sample of samples) {
    try {
      const output = renderTemplate(template, sample.data);
      if (output.trim() === '')
        return problem(errorAt(text, 0, 'renders to nothing but whitespace: a commit needs a message'), sample.name);
      if (output.includes('\0'))
        return problem(errorAt(text, 0, 'renders a NUL character: Git cannot hold one'), sample.name);
      if (mustAppear !== undefined && !output.includes(mustAppear))
        return problem(
          errorAt(text, 0, 'does not show .RequestMessage unaltered: the message of the request would be lost'),
          sample.name,
        );
    } catch (error) {
      if (error instanceof TemplateError) return problem(error, sample.name);
      throw error;
    }
  }
  return undefined;
}

const ENTRIES: readonly MessageEntry[] = [
  {
    operation: 'CREATE',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    kind: 'Deployment',
    namespace: 'demo',
    name: 'web',
    apiVersion: 'apps/v1',
    resourceVersion: '4711',
    generation: 3,
    labels: { app: 'web', 'app.kubernetes.io/name': 'web' },
  },
  {
    operation: 'UPDATE',
    group: '',
    version: 'v1',
    resource: 'configmaps',
    kind: 'ConfigMap',
    namespace: 'demo',
    name: 'settings',
    apiVersion: 'v1',
    resourceVersion: '',
    generation: 0,
    labels: {},
  },
  {
    operation: 'DELETE',
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    resource: 'clusterroles',
    kind: '',
    namespace: '_cluster',
    name: 'reader',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    resourceVersion: '4712',
    generation: 0,
    labels: {},
  },
];

function windows(requestMessage: string): readonly Sample[] {
  return [1, 2, 3].flatMap((count) =>
    ['alice', ''].map((author) => {
      const facts: LiveFacts = { author, gitTarget: 'sample', entries: ENTRIES.slice(0, count), requestMessage };
      return {
        name: `${count} ${count === 1 ? 'change' : 'changes'} by ${author === '' ? 'nobody known' : author}`,
        data: liveData(facts),
      };
    }),
  );
}

const RECONCILE: ReconcileFacts = {
  count: 3,
  gitTarget: 'sample',
  group: '',
  version: '',
  resource: '',
  apiVersion: '',
  namespace: '',
  resourceVersion: '',
};
const ONE_TYPE = { ...RECONCILE, group: 'apps', version: 'v1', resource: 'deployments', apiVersion: 'apps/v1' };
const RECONCILES: readonly Sample[] = [
  { name: 'a snapshot of the whole target', data: reconcileData(RECONCILE) },
  { name: 'a snapshot of one type', data: reconcileData(ONE_TYPE) },
  {
    name: 'a snapshot of one type in one namespace',
    data: reconcileData({ ...ONE_TYPE, namespace: 'demo', resourceVersion: '4711' }),
  },
];
