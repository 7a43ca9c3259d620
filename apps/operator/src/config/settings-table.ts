import { environmentName } from './setting.js';
import { SETTINGS } from './settings.js';

/** The settings as the README shows them. */
export function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ flag, path, defaultText, expects, doc }) => {
    const cells = [`\`--${flag}\``, `\`${path.join('.')}\``, `\`${defaultText}\``, expects, doc];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const head = `| Flag (or ${environmentName('…').replace('…', '*')}) | In the file | Default | Expects | Meaning |`;
  return [head, '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}
