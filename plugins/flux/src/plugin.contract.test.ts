import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  aConfigMap,
  aDeployment,
  configMaps,
  deployments,
  describeSanitizer,
  observed,
} from '@gitops-reverser/kernel-testing';
import { plugin } from './plugin.js';

describeSanitizer(plugin, {
  readme: readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8'),
  samples: [
    {
      object: observed(
        aConfigMap({ name: 'applied', labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps', team: 'blue' } }),
      ),
      type: configMaps,
      why: 'what a Kustomization applied',
      expect: 'keep',
    },
    {
      object: observed({
        ...aDeployment('released'),
        metadata: { name: 'released', namespace: 'demo', labels: { 'helm.toolkit.fluxcd.io/name': 'shop' } },
      }),
      type: deployments,
      why: 'what a HelmRelease released',
      expect: 'keep',
    },
  ],
});
