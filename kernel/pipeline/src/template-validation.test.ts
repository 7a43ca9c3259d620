import { validateTemplates } from './template-validation.js';

describe('templates are proven on samples before they are used', () => {
  it('accepts texts that render over every sample', () => {
    const problems = validateTemplates({
      live: '{{.Author}}: {{.Count}}{{range .Resources}}\n- {{.Operation}} {{.}} {{.Label "app"}}{{end}}',
      request: '{{.RequestMessage}}\n\n{{range $op, $n := .Operations}}{{$op}} {{$n}} {{end}}',
      reconcile: 'sync {{.Count}} {{with .Resource}}{{.}}{{else}}resources{{end}}{{with .Namespace}} in {{.}}{{end}}',
    });

    expect(problems).toEqual([]);
  });

  it.each([
    {
      why: 'does not parse',
      live: 'one\n{{if .Count}}',
      expected: { line: 2, column: 3, message: /liveTemplate 2:3: \{\{if\}\} is never ended/ },
    },
    {
      why: 'names a field there is not',
      live: '{{.Autor}}',
      expected: { line: 1, column: 3, message: /can't evaluate field Autor.*sample of 1 change by alice/ },
    },
    {
      why: 'takes a label for granted',
      live: '{{range .Resources}}{{.Labels.app}}{{end}}',
      expected: { line: 1, column: 23, message: /no entry for key "app".*2 changes/ },
    },
    {
      why: 'is empty for somebody unknown',
      live: '{{.Author}}',
      expected: { line: 1, column: 1, message: /nothing but whitespace.*nobody known/ },
    },
    {
      why: 'uses a retired name in a branch no sample takes',
      live: 'x{{if false}}{{.Revision}}{{end}}',
      expected: { line: 1, column: 16, message: /\.Revision is retired: use \.ResourceVersion/ },
    },
    {
      why: 'counts on more changes than there are',
      live: 'x{{(index .Resources 1).Name}}',
      expected: { line: 1, column: 5, message: /index out of range: 1.*1 change by alice/ },
    },
    { why: 'renders a NUL', live: 'x{{"\\x00"}}', expected: { line: 1, column: 1, message: /NUL/ } },
  ])('refuses a live template that $why', ({ live, expected }) => {
    expect(validateTemplates({ live })).toEqual([
      {
        template: 'liveTemplate',
        line: expected.line,
        column: expected.column,
        message: expect.stringMatching(expected.message),
      },
    ]);
  });

  it('refuses a request template that alters or loses the message', () => {
    expect(validateTemplates({ request: 'by {{.Author}}' })).toMatchObject([
      { template: 'requestTemplate', message: expect.stringMatching(/RequestMessage unaltered/) },
    ]);
    expect(validateTemplates({ request: '{{html .RequestMessage}}' })).toMatchObject([{ template: 'requestTemplate' }]);
    expect(validateTemplates({ request: '{{.RequestMessage}}' })).toEqual([]);
  });

  it('refuses a reconcile template that only works for one namespace', () => {
    expect(validateTemplates({ reconcile: '{{.Namespace}}' })).toMatchObject([{ template: 'reconcileTemplate' }]);
  });

  it('reports each template once', () => {
    expect(validateTemplates({ live: '{{', request: '{{', reconcile: '{{' }).map(({ template }) => template)).toEqual([
      'liveTemplate',
      'requestTemplate',
      'reconcileTemplate',
    ]);
  });
});
