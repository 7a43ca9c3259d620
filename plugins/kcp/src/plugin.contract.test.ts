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
          name: 'of-a-workspace',
          annotations: { 'kcp.io/cluster': '1x2f9q8c', 'kcp.io/path': 'root:plum' },
        }),
      ),
      type: configMaps,
      why: 'what a workspace holds',
      expect: 'keep',
    },
  ],
});
