import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { BenchFile } from './manifests.js';

export async function writeFiles(root: string, files: Iterable<BenchFile>): Promise<void> {
  const made = new Set<string>();
  for (const { path, text } of files) {
    const file = join(root, path);
    const directory = dirname(file);
    if (!made.has(directory)) await mkdir(directory, { recursive: true });
    made.add(directory);
    await writeFile(file, text);
  }
}
