import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveData, type LiveFacts } from '../message-data.js';
import { parseTemplate, renderTemplate, TemplateError } from './index.js';

/** `table.json` was made by Go itself: `cd fixtures && go run main.go > table.json`. */
interface Row {
  readonly data: 'live' | 'empty';
  readonly template: string;
  readonly output?: string;
  readonly error?: string;
}
const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8'));
const rows = fixture('table.json') as readonly Row[];
const data = fixture('data.json') as Readonly<Record<string, LiveFacts>>;

/** Valid in Go, exotic, and refused by us with a message that names the construct. */
const REFUSED: ReadonlyMap<string, RegExp> = new Map([
  ['{{1i}}', /complex numbers are not supported/],
  ['{{1+2i}}', /complex numbers are not supported/],
  ['{{.}}', /printing a whole message/],
  ['{{$}}x{{$.Count}}', /printing a whole message/],
  ['{{print |}}', /missing value after \|/],
  ['{{printf "%[1]d" 1}}', /argument indexes in printf/],
  ['{{printf "%T" 1}}', /verb %T/],
  ['{{printf "%x" 3.5}}', /%x of a float/],
  ['{{printf "%+.3e|%G|%E" 1234.5 1e10 1.5}}', /verb %G/],
  ['{{printf "%o %b %O" 8 5 8}}', /verb %o/],
  ['{{define "x"}}{{end}}', /\{\{define\}\} is not supported/],
  ['{{block "x" .}}{{end}}', /\{\{block\}\} is not supported/],
  ['{{index .Author 0}}', /index of a string/],
  ['{{index "abc" 1}}', /index of a string/],
]);

function render({ template, data: name }: Row): string | TemplateError {
  try {
    return renderTemplate(parseTemplate(template), liveData(data[name] as LiveFacts));
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}

describe('templates render as Go renders them', () => {
  it.each(rows.filter(({ output, template }) => output !== undefined && !REFUSED.has(template)))(
    '$data: $template',
    (row) => {
      expect(render(row)).toBe(row.output);
    },
  );

  it.each(rows.filter(({ output }) => output === undefined))('refuses what Go refuses: $template', (row) => {
    const answer = render(row);

    expect(answer).toBeInstanceOf(TemplateError);
    expect((answer as TemplateError).message).toMatch(/^\d+:\d+: ./);
  });

  it.each([...REFUSED])('refuses by name what it does not support: %s', (template, names) => {
    const row = rows.find((each) => each.template === template);

    expect(row?.output).toBeDefined();
    expect(String(render(row as Row))).toMatch(names);
  });
});
