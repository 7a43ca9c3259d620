/** What `{namespace}` stands for in a grant: the borrower's namespace. */
export const namespaceVariable = '{namespace}';
/** `?`, `[`, `\` are refused: they would look special and are not. */
export const globPattern = '^[^?\\[\\\\\\x00-\\x1f\\x7f]+$';
export const globMaxLength = 255;

const expand = (pattern: string, namespace: string): string => pattern.replaceAll(namespaceVariable, namespace);

/** Whether a stored glob is one. */
export const isGlob = (glob: string): boolean =>
  glob.length <= globMaxLength && new RegExp(globPattern, 'u').test(glob);

/**
 * Whether `text` matches the whole of `glob`: `*` is any run without `/`, `**` any run, `{namespace}` the given
 * namespace, everything else itself. Case-sensitive; takes time in the product of both lengths whatever is asked.
 */
export function matchesGlob(glob: string, text: string, namespace: string): boolean {
  let reached = new Set([0]);
  const tokens = expand(glob, namespace).match(/\*\*|[^]/gu) ?? [];
  for (const token of tokens) {
    const next = new Set<number>();
    for (const at of reached) {
      if (token === '*' || token === '**') {
        for (let end = at; end <= text.length; end += 1) {
          next.add(end);
          if (token === '*' && text[end] === '/') break;
        }
      } else if (text.startsWith(token, at)) next.add(at + token.length);
    }
    reached = next;
  }
  return reached.has(text.length);
}

/** Whether `path` is the folder of `pattern` or below it; `.` admits every folder. */
export function matchesFolderPattern(pattern: string, path: string, namespace: string): boolean {
  const folder = expand(pattern, namespace);
  return folder === '.' || path === folder || path.startsWith(`${folder}/`);
}
