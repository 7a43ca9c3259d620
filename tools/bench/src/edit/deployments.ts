/** One Deployment of the long file, as a person wrote it. */
export interface BenchDeployment {
  readonly index: number;
  readonly replicas: number;
  readonly tag: string;
}

const teams = ['payments', 'catalogue', 'search', 'delivery'] as const;
const namespaces = ['shop', 'shop-staging', 'back-office'] as const;

/** The same Deployments on every run. */
export function deployments(count: number): readonly BenchDeployment[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    replicas: 1 + (index % 5),
    tag: `1.${index % 40}.${index % 7}`,
  }));
}

const nameOf = ({ index }: BenchDeployment): string => `${pick(teams, index)}-${String(index).padStart(4, '0')}`;
export const namespaceOf = ({ index }: BenchDeployment): string => pick(namespaces, index >> 2);
const pick = (words: readonly string[], at: number): string => words[at % words.length] ?? '';

/** Its object, made without any YAML: what an API server would hold. */
export function toObject(deployment: BenchDeployment) {
  const name = nameOf(deployment);
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: namespaceOf(deployment), labels: { app: name, tier: 'backend' } },
    spec: {
      replicas: deployment.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'server',
              image: `acme/${name}:${deployment.tag}`,
              resources: { limits: { memory: '256Mi' } },
            },
          ],
        },
      },
    },
  };
}

/** Its document in the style of the file: comments, flow maps, quotes, a list flush with its key. */
export function toText(deployment: BenchDeployment): string {
  const name = nameOf(deployment);
  return `# Owned by ${pick(teams, deployment.index)}.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: ${namespaceOf(deployment)}
  labels:
    app: ${name}
    tier: "backend" # for the bill
spec:
  replicas: ${deployment.replicas} # see the runbook
  selector:
    matchLabels: { app: ${name} }
  template:
    metadata:
      labels: { app: ${name} }
    spec:
      containers:
      - name: server
        image: acme/${name}:${deployment.tag}
        resources:
          limits: { memory: 256Mi }
`;
}

/** All of them in one file. */
export const toFile = (all: readonly BenchDeployment[]): string => all.map(toText).join('---\n');
