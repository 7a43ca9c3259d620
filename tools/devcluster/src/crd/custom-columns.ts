import { type Json, type JsonObject, textOf } from '../object.js';
import { stringifyJson } from '../json.js';
import { ageText } from '../table/age.js';
import { ageColumn, nameColumn } from '../table/builtin-columns.js';
import type { Column } from '../table/column.js';
import { parseJsonPath, readJsonPath } from '../table/json-path.js';

const columnTypes = ['string', 'integer', 'number', 'boolean', 'date'] as const;

/** The columns of a custom resource: its name, then `additionalPrinterColumns`, or the age when there are none. */
export function customColumns(declared: readonly JsonObject[]): readonly Column[] {
  if (declared.length === 0) return [nameColumn, ageColumn];
  return [nameColumn, ...declared.map(toColumn)];
}

function toColumn(declared: JsonObject): Column {
  const type = columnTypes.find((one) => one === declared['type']) ?? 'string';
  const path = parseJsonPath(textOf(declared['jsonPath']));
  return {
    name: textOf(declared['name']),
    type,
    format: textOf(declared['format']),
    description: textOf(declared['description']),
    priority: typeof declared['priority'] === 'number' ? declared['priority'] : 0,
    cell: (object, nowMs) => cellOf(readJsonPath(object, path)[0], type, nowMs),
  };
}

function cellOf(value: Json | undefined, type: Column['type'], nowMs: number): Json {
  if (value === undefined || value === null) return type === 'date' ? '<unknown>' : null;
  switch (type) {
    case 'date':
      return typeof value === 'string' ? ageText(value, nowMs) : '<unknown>';
    case 'string':
      return typeof value === 'string' ? value : stringifyJson(value);
    case 'integer':
    case 'number':
    case 'boolean':
      return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? value : null;
  }
}
