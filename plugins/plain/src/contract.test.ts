import { noStripRules } from '@gitops-reverser/kernel-api';
import {
  aConfigMap,
  aDeployment,
  aSecret,
  describeLayout,
  describeWriter,
  putDocument,
} from '@gitops-reverser/kernel-testing';
import { plugin } from './index.js';

const settings = { placement: { byType: {}, useKustomize: false } };
const given = { 'target-settings': settings, 'strip-rules': noStripRules };

const deployment = `# the shop's own
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
spec:
  replicas: 1 # keep odd
  selector:
    matchLabels: {app: web}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: registry.example.test/app:1.0
`;
const bundle = `# file head
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: demo}
data: {k: "1"} # first
--- # second
apiVersion: v1
kind: ConfigMap
metadata:
  name: two
  namespace: demo
data:
  k: '1'
`;

describeLayout(plugin, {
  given,
  existing: {
    files: { 'README.md': '# Shop\n', 'by/hand/web.yaml': deployment, 'bundle.yaml': bundle },
    object: aDeployment('web'),
    path: 'by/hand/web.yaml',
  },
  changed: aDeployment({ name: 'web', replicas: 3 }),
  refused: { 'web.yaml': deployment, 'copy.yaml': deployment },
  foreign: { 'kustomization.yaml': 'resources:\n- web.yaml\n', 'web.yaml': deployment },
});

describeWriter(plugin, {
  given,
  step: putDocument('bundle.yaml', aConfigMap({ name: 'three', data: { colour: 'red' } })),
  siblings: { before: bundle, keeps: ['data: {k: "1"} # first\n', '--- # second\napiVersion: v1\n', "  k: '1'\n"] },
  unreadable: 'apiVersion: v1\nkind: ConfigMap\n\tmetadata: {}\n',
  foreign: putDocument('db.sops.yaml', aSecret('db')),
});

describe('over a document that is there', () => {
  describeWriter(plugin, {
    given,
    step: putDocument('web.yaml', aDeployment({ name: 'web', replicas: 3 })),
    before: deployment,
    unreadable: new Uint8Array([0xff, 0xfe, 0x00]),
  });
});
