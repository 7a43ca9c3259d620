import { definePlugin, option, type KubeObject, type Sanitizer } from '@gitops-reverser/kernel-api';

/** A sanitizer of a few lines: no status, no server-made metadata, no generated root certificates. */
export const simpleSanitizer = definePlugin(
  {
    id: 'simple-sanitizer',
    kernelApi: '^1.0',
    options: {
      annotations: option.list({
        default: [],
        maxItems: 32,
        doc: 'Annotation keys to leave out besides the usual ones.',
      }),
    },
    reasons: {
      ClusterGenerated: 'every namespace is given this object by the cluster; nobody wrote it, nothing is to be done',
    },
  },
  (on) => {
    on.sanitizer({ needs: {}, create: ({ options }) => createSimpleSanitizer(new Set(options.annotations)) });
  },
);

const SERVER_MADE: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'managedFields',
  'selfLink',
]);

function createSimpleSanitizer(unwanted: ReadonlySet<string>): Sanitizer {
  return {
    sanitize(object, type) {
      if (type.resource === 'configmaps' && type.group === '' && object.metadata.name === 'kube-root-ca.crt')
        return { kind: 'drop', reason: 'ClusterGenerated' };
      const { status: _status, metadata, ...rest } = object;
      const kept = Object.fromEntries(
        Object.entries(metadata).filter(([key]) => !SERVER_MADE.has(key) && key !== 'annotations'),
      );
      const annotations = Object.fromEntries(
        Object.entries(metadata.annotations ?? {}).filter(([key]) => !unwanted.has(key)),
      );
      const shown = Object.keys(annotations).length > 0 ? { ...kept, annotations } : kept;
      return { kind: 'keep', object: { ...rest, metadata: shown } as unknown as KubeObject };
    },
  };
}
