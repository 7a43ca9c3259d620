/** A copy of `value` with one place replaced; `undefined` removes it. Segments of a list are indexes. */
export function edited(value: unknown, path: readonly string[], to: unknown): unknown {
  const [segment, ...rest] = path;
  if (segment === undefined) return to;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (String(index) === segment ? edited(item, rest, to) : item));
  const fields = { ...(value as Readonly<Record<string, unknown>> | undefined) };
  const next = edited(fields[segment], rest, to);
  if (next !== undefined) return { ...fields, [segment]: next };
  delete fields[segment];
  return fields;
}
