import type { StatusCause } from '../status.js';
import { invalid, type ResourceType } from './resource-type.js';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Why a name is refused, in the words of the API server; `undefined` when it is fine. */
function nameProblem(name: string, rule: ResourceType['nameRule']): string | undefined {
  switch (rule) {
    case 'path':
      if (name === '.' || name === '..') return `may not be '${name}'`;
      return /[/%]/.test(name) ? `may not contain '${name.includes('/') ? '/' : '%'}'` : undefined;
    case 'label':
      if (name.length > 63) return 'must be no more than 63 characters';
      return label.test(name)
        ? undefined
        : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    case 'subdomain':
      if (name.length > 253) return 'must be no more than 253 characters';
      return subdomain.test(name)
        ? undefined
        : "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  }
}

const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;
const standardFinalizers = new Set(['foregroundDeletion', 'orphan', 'kubernetes']);
// 262_144: apimachinery's TotalAnnotationSizeLimitB.
const annotationLimitBytes = 262_144;

/** What every object must satisfy, whatever its type. */
export function metadataProblems(
  metadata: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  },
  type: ResourceType,
): StatusCause[] {
  const found: StatusCause[] = [];
  const why = nameProblem(metadata.name ?? '', type.nameRule);
  if (why !== undefined) found.push(invalid('metadata.name', metadata.name ?? '', why));
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (!qualifiedName.test(key)) found.push(invalid('metadata.labels', key, keyRule));
    if (!labelValue.test(value)) found.push(invalid('metadata.labels', value, valueRule));
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (!qualifiedName.test(key.toLowerCase())) found.push(invalid('metadata.annotations', key, keyRule));
    bytes += key.length + Buffer.byteLength(value);
  }
  if (bytes > annotationLimitBytes)
    found.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${annotationLimitBytes} bytes`,
      field: 'metadata.annotations',
    });
  for (const [index, finalizer] of (metadata.finalizers ?? []).entries()) {
    if (!qualifiedName.test(finalizer)) found.push(invalid(`metadata.finalizers[${index}]`, finalizer, keyRule));
    // Custom objects may carry any qualified name, such as Argo CD's without a slash.
    else if (type.schema === undefined && !finalizer.includes('/') && !standardFinalizers.has(finalizer))
      found.push(
        invalid(
          `metadata.finalizers[${index}]`,
          finalizer,
          'name is neither a standard finalizer name nor is it fully qualified',
        ),
      );
  }
  return found;
}

const keyRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

// The alphabet apimachinery draws from: no vowels, nothing that looks like another letter.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
export function generatedName(prefix: string): string {
  let suffix = '';
  for (let i = 0; i < 5; i += 1) suffix += alphabet[Math.floor(Math.random() * alphabet.length)];
  return prefix.slice(0, 58) + suffix;
}
