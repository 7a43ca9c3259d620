import { readFileSync } from 'node:fs';
import { aConfigMap, configMaps, describeSanitizer, observed } from '@gitops-reverser/kernel-testing';
import { plugin } from './plugin.js';

describeSanitizer(plugin, {
  options: { prefixes: ['example.test/', 'notes.example.test/'] },
  readme: readFileSync(new URL('../README.md', import.meta.url), 'utf8'),
  samples: [
    {
      object: observed(aConfigMap({ name: 'noted', annotations: { 'example.test/note': 'ask Kim', kept: 'yes' } })),
      type: configMaps,
      why: 'a note beside what is meant',
      expect: 'keep',
    },
    {
      object: observed(aConfigMap({ name: 'notebook', labels: { 'example.test/notes-only': 'true' } })),
      type: configMaps,
      why: 'nothing but notes',
      expect: 'drop',
    },
  ],
});
