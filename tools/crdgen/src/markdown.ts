/** First line of a page: what it is made from. */
export const generatedFrom = (source: string): string =>
  `<!-- Generated from ${source} by \`npm run generate\`. Do not edit. -->`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export const code = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

export function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(headers), line(headers.map(() => '---')), ...rows.map(line)].join('\n');
}

export const section = (title: string, ...parts: readonly string[]): string => [`## ${title}`, ...parts].join('\n\n');
