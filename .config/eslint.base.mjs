import { join } from 'node:path';
import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

/** Who may lean on whom: rows import columns. Tests may additionally use the test kit, real servers and tools. */
const layers = {
  api: [],
  core: ['api'],
  pipeline: ['api'],
  testing: ['api', 'core', 'pipeline'],
  toolkit: ['api', 'toolkit'],
  plugin: ['api', 'toolkit'],
  crd: ['api', 'toolkit', 'crd'],
  app: ['api', 'core', 'pipeline', 'toolkit', 'crd', 'plugin'],
  tool: ['api', 'toolkit', 'crd', 'tool', 'harness'],
  // Writes the reference of everything.
  generator: ['api', 'pipeline', 'toolkit', 'crd', 'plugin'],
  harness: [],
  e2e: ['harness'],
};
const onlyInTests = ['testing', 'harness', 'tool'];

/** One library, one door. */
const doors = {
  '@kubernetes/client-node': ['toolkit-kube'],
  'isomorphic-git': ['toolkit-git'],
  yaml: ['toolkit-yaml'],
  awilix: ['kernel-core'],
  pino: ['toolkit-telemetry'],
  'prom-client': ['toolkit-telemetry'],
  undici: ['toolkit-kube', 'toolkit-git'],
};

const constraints = (extra) =>
  Object.entries(layers).map(([layer, may]) => ({
    sourceTag: `layer:${layer}`,
    onlyDependOnLibsWithTags: [...may, ...extra].map((name) => `layer:${name}`),
  }));
const boundaries = (extra) => [
  'error',
  {
    enforceBuildableLibDependency: false,
    allow: [],
    allowCircularSelfDependency: false,
    checkDynamicDependenciesExceptions: ['.*'],
    depConstraints: constraints(extra),
  },
];

/** Closed to every package but those that own the door. */
const doorRules = (project) => ({
  'no-restricted-imports': [
    'error',
    {
      paths: Object.entries(doors)
        .filter(([, owners]) => !owners.includes(project))
        .map(([name, owners]) => ({ name, message: `${name} has one door: ${owners.join(', ')}.` })),
    },
  ],
});

export default function house(project) {
  return tseslint.config(
    { ignores: ['**/dist/**', '**/out-tsc/**', '**/fixtures/**'] },
    ...nx.configs['flat/base'],
    ...tseslint.configs.recommended,
    {
      files: ['**/*.ts'],
      languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: join(import.meta.dirname, '..') } },
      rules: {
        '@nx/enforce-module-boundaries': boundaries([]),
        '@typescript-eslint/no-floating-promises': 'error',
        '@typescript-eslint/no-explicit-any': 'error',
        '@typescript-eslint/consistent-type-imports': 'error',
        '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
        'no-console': 'error',
        ...doorRules(project),
      },
    },
    // Tests, stories and what they share.
    {
      files: ['**/*.test.ts', '**/*.story.ts', '**/*.fixture.ts'],
      rules: { '@nx/enforce-module-boundaries': boundaries(onlyInTests) },
    },
  );
}
