/**
 * Rewrites src/schema/messages.ts from the Go type declarations of k8s.io/api and k8s.io/apimachinery: field names,
 * protobuf numbers, list and patch markers. Only facts are taken, no text.
 *
 *   npm run schema-table -- $(go env GOMODCACHE)/k8s.io/api@v0.36.3 $(go env GOMODCACHE)/k8s.io/apimachinery@v0.36.3
 */
import { readFileSync, writeFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const [api, machinery] = process.argv.slice(2);
if (!api || !machinery) {
  process.stderr.write('usage: schema-table.mjs <k8s.io/api folder> <k8s.io/apimachinery folder>\n');
  process.exit(2);
}
const packages = {
  'core/v1': `${api}/core/v1`,
  'apps/v1': `${api}/apps/v1`,
  'batch/v1': `${api}/batch/v1`,
  'networking/v1': `${api}/networking/v1`,
  'rbac/v1': `${api}/rbac/v1`,
  'policy/v1': `${api}/policy/v1`,
  'autoscaling/v1': `${api}/autoscaling/v1`,
  'autoscaling/v2': `${api}/autoscaling/v2`,
  'coordination/v1': `${api}/coordination/v1`,
  'storage/v1': `${api}/storage/v1`,
  'scheduling/v1': `${api}/scheduling/v1`,
  'events/v1': `${api}/events/v1`,
  'discovery/v1': `${api}/discovery/v1`,
  'authorization/v1': `${api}/authorization/v1`,
  'authentication/v1': `${api}/authentication/v1`,
  'admissionregistration/v1': `${api}/admissionregistration/v1`,
  'meta/v1': `${machinery}/pkg/apis/meta/v1`,
};
const roots =
  `core/v1.Namespace core/v1.ConfigMap core/v1.Secret core/v1.ServiceAccount core/v1.Service core/v1.Event core/v1.Pod
core/v1.PersistentVolumeClaim core/v1.PersistentVolume core/v1.Node core/v1.ResourceQuota core/v1.LimitRange core/v1.Endpoints
core/v1.ReplicationController core/v1.PodTemplate apps/v1.Deployment apps/v1.StatefulSet apps/v1.DaemonSet apps/v1.ReplicaSet
apps/v1.ControllerRevision batch/v1.Job batch/v1.CronJob networking/v1.Ingress networking/v1.NetworkPolicy networking/v1.IngressClass
rbac/v1.Role rbac/v1.RoleBinding rbac/v1.ClusterRole rbac/v1.ClusterRoleBinding policy/v1.PodDisruptionBudget policy/v1.Eviction
autoscaling/v1.Scale autoscaling/v2.HorizontalPodAutoscaler coordination/v1.Lease storage/v1.StorageClass scheduling/v1.PriorityClass
discovery/v1.EndpointSlice events/v1.Event authorization/v1.SelfSubjectAccessReview authorization/v1.SubjectAccessReview
authorization/v1.LocalSubjectAccessReview authorization/v1.SelfSubjectRulesReview authentication/v1.SelfSubjectReview
authentication/v1.TokenReview authentication/v1.TokenRequest admissionregistration/v1.ValidatingWebhookConfiguration
admissionregistration/v1.MutatingWebhookConfiguration meta/v1.DeleteOptions meta/v1.ListMeta`.split(/\s+/);

const aliases = {
  metav1: 'meta/v1',
  v1: 'core/v1',
  corev1: 'core/v1',
  apiv1: 'core/v1',
  api: 'core/v1',
  autoscalingv1: 'autoscaling/v1',
};
const scalars = {
  string: 'string',
  bool: 'bool',
  int32: 'int',
  int64: 'int',
  int: 'int',
  uint8: 'int',
  float64: 'double',
  '[]byte': 'bytes',
  'metav1.Time': 'time',
  Time: 'time',
  'metav1.MicroTime': 'time',
  MicroTime: 'time',
  'resource.Quantity': 'quantity',
  'intstr.IntOrString': 'intorstring',
  'runtime.RawExtension': 'raw',
  'metav1.FieldsV1': 'fields',
  FieldsV1: 'fields',
  'metav1.Duration': 'duration',
  'types.UID': 'string',
  'types.NodeName': 'string',
  'runtime.Object': 'raw',
};

const sources = {};
for (const [name, folder] of Object.entries(packages)) {
  let text = '';
  for (const file of existsSync(folder) ? readdirSync(folder) : [])
    if (
      /types.*\.go$|^register\.go$|^time\.go$|^meta\.go$/.test(file) &&
      !file.includes('zz_') &&
      !file.includes('_test') &&
      !file.includes('swagger')
    )
      text += readFileSync(join(folder, file), 'utf8') + '\n';
  sources[name] = text;
}

/** Comment markers directly above a line. */
function markers(lines, index) {
  const found = {};
  for (let i = index - 1; i >= 0 && /^\s*\/\//.test(lines[i]); i--) {
    const m = /^\s*\/\/\s*\+(listType|listMapKey|structType|mapType|default|patchStrategy)=(.+?)\s*$/.exec(lines[i]);
    if (m) (found[m[1]] ??= []).unshift(m[2]);
  }
  return found;
}

const declarations = {};
for (const [name, text] of Object.entries(sources)) {
  const lines = text.split('\n');
  lines.forEach((line, index) => {
    const struct = /^type (\w+) struct \{/.exec(line);
    const plain = /^type (\w+) (=\s*)?([\w.[\]*]+)\s*(\/\/.*)?$/.exec(line);
    if (struct) {
      const fields = [];
      let i = index + 1;
      for (; !/^\}/.test(lines[i]); i++) {
        const f = /^\s+(\w+\s+)?([\w.*[\]]+)\s+`(.*)`/.exec(lines[i]);
        if (f) fields.push({ goType: f[2], tag: f[3], marks: markers(lines, i) });
      }
      declarations[`${name}.${struct[1]}`] = { fields, marks: markers(lines, index) };
    } else if (plain && plain[3] !== 'struct') declarations[`${name}.${plain[1]}`] ??= { alias: plain[3] };
  });
}

const wanted = new Map();
function typeOf(goType, pkg) {
  let type = goType.replace(/^\*/, '');
  if (scalars[type]) return scalars[type];
  let m = /^\[\](.+)$/.exec(type);
  if (m) return `[]${typeOf(m[1], pkg)}`;
  m = /^map\[(.+?)\](.+)$/.exec(type);
  if (m) return `map:${typeOf(m[2], pkg)}`;
  const [a, b] = type.includes('.') ? type.split('.') : [undefined, type];
  const owner = a === undefined ? pkg : aliases[a];
  if (owner === undefined) throw new Error(`unknown package ${goType} in ${pkg}`);
  const ref = `${owner}.${b}`;
  const declaration = declarations[ref];
  if (!declaration) throw new Error(`unknown type ${ref} (in ${pkg})`);
  if (declaration.alias) {
    if (declaration.alias === '[]string') return 'wrapped';
    return typeOf(declaration.alias, owner);
  }
  visit(ref);
  return ref;
}
function visit(ref) {
  if (wanted.has(ref)) return;
  const declaration = declarations[ref];
  if (!declaration?.fields) throw new Error(`no struct ${ref}`);
  const pkg = ref.slice(0, ref.lastIndexOf('.'));
  const rows = [];
  wanted.set(ref, rows);
  if (declaration.marks.structType?.includes('atomic')) rows.atomic = true;
  for (const { goType, tag, marks } of declaration.fields) {
    if (/TypeMeta$/.test(goType)) continue;
    const json = /json:"([^"]*)"/.exec(tag)?.[1] ?? '';
    const proto = /protobuf:"([^"]*)"/.exec(tag)?.[1];
    if (proto === undefined || proto === '-') continue;
    const number = proto.split(',')[1];
    const [jsonName, ...opts] = json.split(',');
    const flags = [];
    const pointer = goType.startsWith('*');
    const inline = opts.includes('inline') || (jsonName === '' && json !== '');
    const type = typeOf(goType, pkg);
    // A struct that is no pointer is always written by the server; everything optional appears when it is set.
    const isStruct = type.includes('.') && !type.startsWith('[]') && !type.startsWith('map:');
    if (isStruct && !pointer) flags.push('always');
    if (pointer) flags.push('ptr');
    // Times are structs to Go: without omitzero even the zero one is written.
    if ((!opts.includes('omitempty') || type === 'time') && !opts.includes('omitzero') && !isStruct && !pointer)
      flags.push('keep');
    const listType = marks.listType?.[0];
    if (listType === 'map') flags.push(`keys=${marks.listMapKey.join(',')}`);
    if (listType === 'set') flags.push('set');
    if (marks.structType?.includes('atomic') || marks.mapType?.includes('atomic')) flags.push('atomic');
    const strategy = /patchStrategy:"([^"]*)"/.exec(tag)?.[1] ?? '';
    const mergeKey = /patchMergeKey:"([^"]*)"/.exec(tag)?.[1];
    if (strategy.includes('merge')) flags.push(mergeKey ? `merge=${mergeKey}` : 'merge');
    if (strategy.includes('retainKeys')) flags.push('retain');
    rows.push([number, inline ? '~' : jsonName, type, ...flags].join(' '));
  }
}
for (const root of roots) visit(root);

let out = '';
for (const ref of [...wanted.keys()].sort()) {
  const rows = wanted.get(ref);
  out += `${ref}${rows.atomic ? ' atomic' : ''}\n${rows.map((row) => ` ${row}\n`).join('')}`;
}
const file = join(import.meta.dirname, '../src/schema/messages.ts');
writeFileSync(
  file,
  `// Generated by scripts/schema-table.mjs from k8s.io/api and k8s.io/apimachinery v0.36.3; do not edit.
/**
 * The built-in types as facts. A line in column 0 opens a message; a line below it is a field: protobuf number, JSON name
 * (\`~\` is inlined), type, flags. Flags: \`always\` (a struct written even when empty), \`ptr\`
 * (zero differs from absent), \`keep\` (zero is written), \`keys=\` (list keys), \`set\`, \`atomic\`,
 * \`merge\` and \`merge=\` (strategic merge), \`retain\` (retainKeys).
 */
export const messageTable = \`
${out}\`;
`,
);
process.stdout.write(`${wanted.size} messages\n`);
