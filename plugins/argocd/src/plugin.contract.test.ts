import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aConfigMap, configMaps, describeSanitizer, observed } from '@gitops-reverser/kernel-testing';
import { plugin } from './plugin.js';

describeSanitizer(plugin, {
  readme: readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8'),
  samples: [
    {
      object: observed(
        aConfigMap({
          name: 'tracked',
          annotations: {
            'argocd.argoproj.io/tracking-id': 'shop:/ConfigMap:demo/tracked',
            'argocd.argoproj.io/sync-wave': '3',
          },
        }),
      ),
      type: configMaps,
      why: 'what an Application applied',
      expect: 'keep',
    },
  ],
});
