import { appFiles, type BenchFile } from './manifests.js';

/** Entries of one unit. */
export const filesOfUnit = 50;

/** What an analyzer must find in one unit, whatever else the repository holds. */
export const unitFindings = {
  /** Candidates by layout. */
  layouts: { plain: 5, 'kustomize-overlay': 2, 'kustomize-single': 1 },
  accepted: 7,
  refused: 1,
  /** Issues of the repository scanned as one folder. */
  issues: { 'foreign-file': 3, 'non-krm-yaml': 2 },
  /** Documents with a kind and a name, patches included. */
  manifests: 47,
} as const;

/** What a team keeps in one place: applications, overlays, a bundle of many documents, a chart, and things that are no manifests. */
export function unitFiles(unit: number): readonly BenchFile[] {
  const name = `unit-${String(unit).padStart(4, '0')}`;
  const file = (path: string, text: string): BenchFile => ({ path: `${name}/${path}`, text, identities: [] });
  const plain = [0, 1, 2].flatMap((nth) => appFiles(unit * 3 + nth));
  return [
    ...plain.map(({ path, text, identities }) => ({ path: `${name}/apps/${path}`, text, identities })),
    file('README.md', `# ${name}\n\nAsk in the channel of the team.\n`),
    file('bundle/README.md', 'Made by hand.\n'),
    file('bundle/settings.yaml', Array.from({ length: 6 }, (_, nth) => settings(name, nth)).join('---\n')),
    file('chart/Chart.yaml', `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`),
    file('chart/values.yaml', 'image:\n  tag: "1.0" # pinned\nreplicas: 2\n'),
    file('chart/rendered.yaml', workload(`${name}-chart`)),
    file('tools/build.sh', '#!/bin/sh\nexec make\n'),
    file('tools/dashboard.json', '{"panels":[]}\n'),
    file('tools/notes.txt', 'Remember the milk.\n'),
    file('kustomize/base/configmap.yaml', `${head('v1', 'ConfigMap', name)}data:\n  LEVEL: info\n`),
    file('kustomize/base/deployment.yaml', workload(name)),
    file('kustomize/base/service.yaml', `${head('v1', 'Service', name)}spec:\n  ports:\n    - port: 80\n`),
    file('kustomize/base/kustomization.yaml', kustomization('configmap.yaml', 'deployment.yaml', 'service.yaml')),
    ...['production', 'staging'].flatMap((stage) => [
      file(
        `kustomize/overlays/${stage}/kustomization.yaml`,
        `${kustomization('../../base')}namespace: ${name}-${stage}\npatches:\n  - path: replicas.yaml\n`,
      ),
      file(`kustomize/overlays/${stage}/replicas.yaml`, `${head('apps/v1', 'Deployment', name)}spec:\n  replicas: 3\n`),
    ]),
    file('single/account.yaml', head('v1', 'ServiceAccount', `${name}-single`)),
    file('single/kustomization.yaml', `${kustomization('account.yaml', 'workload.yaml')}namespace: ${name}\n`),
    file('single/workload.yaml', workload(`${name}-single`)),
  ];
}

const head = (apiVersion: string, kind: string, name: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n`;

const settings = (name: string, nth: number): string =>
  `# ${nth}\n${head('v1', 'ConfigMap', `${name}-settings-${nth}`)}  namespace: ${name}\ndata:\n  key: 'value ${nth}'\n`;

const workload = (name: string): string => `${head('apps/v1', 'Deployment', name)}spec:
  selector:
    matchLabels: { app: ${name} }
  template:
    metadata:
      labels: { app: ${name} }
    spec:
      containers:
        - name: server
          image: ghcr.io/acme/${name}:1.0.0 # {"$imagepolicy": "flux-system:${name}"}
`;

const kustomization = (...resources: readonly string[]): string =>
  `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n${resources.map((path) => `  - ${path}\n`).join('')}`;
