import { clock, definePlugin, logger, option, stripRules } from '@gitops-reverser/kernel-api';
import { clusterLocality, kubeConnection } from '@gitops-reverser/toolkit-kube';
import { bookkeeping, createSanitizer, GENERATED_FILTERS } from './sanitizer/index.js';
import { resourcePolicy } from './source/policy.js';
import { createKubernetesSource } from './source/source.js';

const RESOURCE = /^[a-z0-9.-]+(\/[a-z0-9.-]+)?$/i;

export const kubernetesOptions = {
  allowedResources: option.list({
    default: [],
    maxItems: 64,
    pattern: RESOURCE,
    doc: 'Types of the default deny list that rules may name after all; events and leases never.',
  }),
  deniedResources: option.list({ default: [], maxItems: 64, pattern: RESOURCE, doc: 'Types no rule may name.' }),
  defaultObjectExclusions: option.string({
    default: 'all',
    pattern: /^(all|none)$/,
    doc: 'all: objects the cluster makes by itself are not mirrored. none: they are.',
  }),
};

/** Source and default sanitizer for any Kubernetes API server. */
export const plugin = definePlugin(
  {
    id: 'kubernetes',
    kernelApi: '^1.0',
    options: kubernetesOptions,
    reasons: {
      'denied-by-policy': 'The type is not mirrored by default; see --allowed-resources.',
      'missing-verb': 'The API does not let this type be read, listed and watched.',
      'gvk-not-unique':
        'One kind is served under two plurals of one group version; the mirror could not tell them apart.',
      'gvr-not-unique':
        'One plural is served with two kinds of one group version; the mirror could not tell them apart.',
      'scope-unknown':
        'The API does not say whether objects of this type have namespaces; whoever serves it has to repair its discovery.',
      SourceClusterUnreachable:
        'The API server did not answer, or not as one; the message says what was found. Check address, network and server.',
      SourceClusterAuthenticationFailed: 'The API server does not accept the credential (401); renew it.',
      SourceClusterAccessDenied:
        'The API server denies the credential its discovery documents (403); grant system:discovery.',
      ...Object.fromEntries(GENERATED_FILTERS.map(({ id, doc }) => [id, doc])),
      NotAnObject: 'The server sent something without apiVersion, kind or metadata.name.',
      OptionsInvalid: 'An option of this plugin contradicts itself; the message names it.',
    },
  },
  (on) => {
    on.source({
      serves: ['kubernetes'],
      needs: { clock, logger, connection: kubeConnection, locality: clusterLocality },
      create: ({ options, needs }) =>
        createKubernetesSource({
          connection: needs.connection,
          locality: needs.locality,
          clock: needs.clock,
          logger: needs.logger.child({ component: 'source' }),
          policy: resourcePolicy(options.allowedResources, options.deniedResources),
        }),
    });
    on.sanitizer({
      // The provenance gate needs the evidence that others strip.
      order: 'first',
      bookkeeping: () => bookkeeping,
      needs: { rules: stripRules },
      create: ({ options, needs }) =>
        createSanitizer({
          defaultObjectExclusions: options.defaultObjectExclusions === 'none' ? 'none' : 'all',
          stripRules: needs.rules,
        }),
    });
  },
);
