import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { runProgram } from './child.js';
import { openYamlLibrary } from './yaml-library.js';

export interface ReadAllRivalAsk {
  readonly root: string;
}

export interface ReadAllRivalAnswer {
  readonly ms: number;
  /** Documents with an identity. */
  readonly manifests: number;
}

await runProgram(async ({ root }: ReadAllRivalAsk): Promise<ReadAllRivalAnswer> => {
  const yaml = await openYamlLibrary();
  const beganMs = performance.now();
  const found: string[] = [];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.ya?ml$/.test(entry.name)) continue;
    for (const document of yaml.parseAllDocuments(readFileSync(join(entry.parentPath, entry.name), 'utf8'))) {
      const [kind, name] = [document.getIn(['kind']), document.getIn(['metadata', 'name'])];
      if (typeof kind === 'string' && typeof name === 'string') found.push(`${kind} ${name}`);
    }
  }
  return { ms: performance.now() - beganMs, manifests: found.length };
});
