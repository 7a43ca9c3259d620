import type { ParseYaml } from './http/body-reader.js';

/** One YAML document as a JSON value, read by the YAML toolkit. Loaded only when somebody sends YAML. */
export async function loadYamlParser(): Promise<ParseYaml> {
  const { parseDocuments } = await import('@gitops-reverser/toolkit-yaml');
  return (text) => {
    const found = parseDocuments(text);
    if (!found.ok) throw new SyntaxError('not readable as YAML');
    const [document, ...more] = found.value.filter((one) => one.state !== 'empty');
    if (document === undefined || more.length > 0 || document.state !== 'read')
      throw new SyntaxError('expected exactly one YAML document without anchors or tags');
    return document.value;
  };
}
