import type { JsonObject } from '@gitops-reverser/kernel-api';
import { parseDocuments } from '@gitops-reverser/toolkit-yaml';

// 1 MiB: a Secret holds no more.
const MAX_TEXT = 1024 * 1024;

/** The one map a kubeconfig is, or what is wrong with the text; never quotes it, since it holds credentials. */
export function readKubeconfigText(text: string): JsonObject | string {
  if (Buffer.byteLength(text) > MAX_TEXT) return `the text is larger than ${MAX_TEXT} bytes`;
  const read = parseDocuments(text);
  if (!read.ok) return 'the text is not YAML';
  const [document, more] = read.value.filter(({ state }) => state !== 'empty');
  if (document === undefined) return 'the text is empty';
  if (more !== undefined) return 'the text holds more than one YAML document';
  switch (document.state) {
    case 'read':
      return isMap(document.value) ? document.value : 'the text is not a YAML map';
    case 'non-editable':
      // An alias can stand for another user's field without showing it.
      return `the text uses ${document.construct}, which is not read here; spell the values out`;
    case 'invalid':
      return `the text is not YAML (${document.problem.message})`;
    case 'empty':
      return 'the text is empty';
  }
}

const isMap = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
