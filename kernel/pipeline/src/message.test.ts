import { liveMessage, reconcileMessage } from './message.js';
import type { LiveFacts, MessageEntry, ReconcileFacts } from './message-data.js';

const entry: MessageEntry = {
  operation: 'UPDATE',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespace: 'demo',
  name: 'web',
  apiVersion: 'v1',
  resourceVersion: '7',
  generation: 0,
  labels: {},
};
const facts: LiveFacts = {
  author: 'alice',
  gitTarget: 'app',
  entries: [
    entry,
    {
      ...entry,
      operation: 'DELETE',
      group: 'apps',
      apiVersion: 'apps/v1',
      resource: 'deployments',
      namespace: '_cluster',
    },
  ],
  requestMessage: '',
};
const reconcile: ReconcileFacts = {
  count: 12,
  gitTarget: 'app',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  apiVersion: 'v1',
  namespace: '',
  resourceVersion: '',
};

describe('the message of a commit', () => {
  it('says by itself what changed, one line each', () => {
    expect(liveMessage({}, facts)).toEqual({
      text: 'chore: sync 2 resource(s)\n\n- [UPDATE] v1/configmaps/demo/web\n- [DELETE] apps/v1/deployments/_cluster/web\n',
      source: 'live',
    });
  });

  it.each([
    [{}, 'chore: reconcile 12 configmaps\n'],
    [{ namespace: 'demo' }, 'chore: reconcile 12 configmaps in demo\n'],
    [
      { namespace: 'demo', resourceVersion: '99' },
      'chore: reconcile 12 configmaps in demo (last resourceVersion: 99)\n',
    ],
    [{ resource: '' }, 'chore: reconcile 12 resources\n'],
  ])('says by itself what was compared: %j', (more, text) => {
    expect(reconcileMessage({}, { ...reconcile, ...more })).toEqual({ text, source: 'reconcile' });
  });

  it('is right-trimmed and ends in one newline, whatever the template leaves', () => {
    expect(liveMessage({ live: '  {{.Author}} did it \n\n\n' }, facts).text).toBe('  alice did it\n');
  });

  it.each([
    ['fails at run time', '{{(index .Resources 9).Name}}', /index out of range/],
    ['renders nothing', '{{if eq .Count 99}}x{{end}}', /nothing but whitespace/],
    ['renders a NUL', 'x{{"\\x00"}}', /NUL/],
    ['never ends', '{{range 1000000}}{{end}}x', /steps/],
    ['grows without end', '{{range 100000}}0123456789{{end}}', /longer than/],
  ])(
    '3.10: falls back to the built-in wording when the template %s: no window is lost to wording',
    (_why, live, problem) => {
      const message = liveMessage({ live }, facts);

      expect(message.text).toMatch(/^chore: sync 2 resource\(s\)\n/);
      expect(message).toMatchObject({ source: 'template_fallback', problem: expect.stringMatching(problem) });
    },
  );
});
