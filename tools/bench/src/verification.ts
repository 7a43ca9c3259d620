import { isDeepStrictEqual } from 'node:util';

import { parseDocuments } from '@gitops-reverser/toolkit-yaml';

import { keyOf } from './config-maps.js';
import type { BenchConfigMap } from './config-maps.js';

/**
 * Compares every object with the one document that holds it.
 *
 * @param files path and text of every file below the target's folder
 * @returns what is wrong, in words; empty when all is as it should be
 */
export function compareContent(
  expected: ReadonlyMap<string, BenchConfigMap>,
  files: ReadonlyMap<string, string>,
): readonly string[] {
  const problems: string[] = [];
  const missing = new Set(expected.keys());
  for (const [path, text] of files) {
    const read = parseDocuments(text);
    if (!read.ok) {
      problems.push(`${path} is not readable`);
      continue;
    }
    for (const document of read.value) {
      if (document.state === 'empty') continue;
      if (document.state !== 'read') {
        problems.push(`${path} holds a document that is not readable`);
        continue;
      }
      const found = plain(document.value) as BenchConfigMap;
      const key = keyOf(found);
      const wanted = expected.get(key);
      // Objects of the cluster itself are mirrored as well; they are not of the bench.
      if (wanted === undefined) {
        if (/^bench-\d+\//.test(key)) problems.push(`${path} holds ${key}, which does not exist`);
      } else if (!missing.delete(key)) problems.push(`${path} holds ${key} a second time`);
      else if (!isDeepStrictEqual(found, plain(wanted))) problems.push(`${path} differs from ${key}`);
    }
  }
  for (const key of missing) problems.push(`${key} is in no file`);
  return problems;
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
