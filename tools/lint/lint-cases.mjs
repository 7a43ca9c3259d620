import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ESLint } from 'eslint';

/** Reads `[{ path, text }]` on standard input, lints each as if it were that file, and prints the messages of each. */
const root = join(import.meta.dirname, '../..');
const cases = JSON.parse(await text(process.stdin));
const engines = new Map();
const answers = [];
for (const { path, text: source } of cases) {
  const project = path.slice(0, path.indexOf('/src/'));
  process.chdir(join(root, project));
  const engine = engines.get(project) ?? new ESLint({ cwd: join(root, project) });
  engines.set(project, engine);
  const [file] = await engine.lintText(source, { filePath: join(root, path) });
  answers.push(file.messages.map(({ ruleId, message }) => `${ruleId}: ${message.split('\n')[0]}`));
}
process.stdout.write(JSON.stringify(answers));
