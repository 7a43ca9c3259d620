import type { Identified } from './identities.js';

/** One file of a folder as a team wrote it. */
export interface BenchFile {
  readonly path: string;
  readonly text: string;
  /** What its documents are; of files whose documents nobody asks for, nothing. */
  readonly identities: readonly Identified[];
}

export const filesOfApp = 10;

/** Everything one application is made of: ten files, eleven documents. */
export function appFiles(index: number): readonly BenchFile[] {
  const app = `app-${String(index).padStart(5, '0')}`;
  const namespace = `team-${String(index % 40).padStart(2, '0')}`;
  const file = (name: string, text: string, ...types: readonly string[]): BenchFile => {
    const path = `${namespace}/${app}/${name}`;
    const identities = types.map((type): Identified => {
      const [group = '', kind = ''] = type.split('/');
      return { group, kind, namespace, name: app, path };
    });
    return { path, text, identities };
  };
  return [
    file('configmap.yaml', configMap(app, namespace, index), '/ConfigMap'),
    file('cronjob.yaml', cronJob(app, namespace), 'batch/CronJob'),
    file('deployment.yaml', deployment(app, namespace, index), 'apps/Deployment'),
    file(
      'disruption.yaml',
      `${autoscaler(app, namespace)}---\n${budget(app, namespace)}`,
      'autoscaling/HorizontalPodAutoscaler',
      'policy/PodDisruptionBudget',
    ),
    file('ingress.yaml', ingress(app, namespace), 'networking.k8s.io/Ingress'),
    file('networkpolicy.yaml', networkPolicy(app, namespace), 'networking.k8s.io/NetworkPolicy'),
    file('release.yaml', helmRelease(app, namespace, index), 'helm.toolkit.fluxcd.io/HelmRelease'),
    file('rules.yaml', rules(app, namespace, index), 'monitoring.coreos.com/PrometheusRule'),
    file('service.yaml', service(app, namespace), '/Service'),
    file('serviceaccount.yaml', serviceAccount(app, namespace), '/ServiceAccount'),
  ];
}

const head = (apiVersion: string, kind: string, app: string, namespace: string): string =>
  `apiVersion: ${apiVersion}
kind: ${kind}
metadata:
  name: ${app}
  namespace: ${namespace}
`;

const configMap = (
  app: string,
  namespace: string,
  index: number,
): string => `# Read at start only: roll the pods after a change.
${head('v1', 'ConfigMap', app, namespace)}data:
  LOG_LEVEL: "info"
  WORKERS: "${1 + (index % 8)}"
  FEATURE_FLAGS: 'search=on,beta=off'
  application.properties: |
    # database
    db.url=jdbc:postgresql://db.${namespace}:5432/${app}
    db.pool.size=${10 + (index % 20)}
    db.pool.timeout=30s

    # caching
    cache.ttl=300
    cache.hosts=cache-0.cache:11211,cache-1.cache:11211
`;

const deployment = (app: string, namespace: string, index: number): string => `---
# ${app}: the part of the shop customers see.
${head('apps/v1', 'Deployment', app, namespace)}  labels:
    app.kubernetes.io/name: ${app}
    app.kubernetes.io/part-of: shop
  annotations:
    reloader.stakater.com/auto: "true"
spec:
  replicas: ${2 + (index % 4)} # the autoscaler takes over above this
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      app.kubernetes.io/name: ${app}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  template:
    metadata:
      labels:
        app.kubernetes.io/name: ${app}
        app.kubernetes.io/part-of: shop
    spec:
      serviceAccountName: ${app}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
      containers:
        - name: server
          image: ghcr.io/acme/${app}:2.${index % 30}.${index % 9}
          args: ["--listen", ":8080", "--config=/etc/app/application.properties"]
          envFrom:
            - configMapRef:
                name: ${app}
          env:
            # set by hand until the operator does it
            - name: GOMEMLIMIT
              value: 230MiB
            - name: POD_NAME
              valueFrom:
                fieldRef:
                  fieldPath: metadata.name
          ports:
            - name: http
              containerPort: 8080
          readinessProbe:
            httpGet: { path: /ready, port: http }
            periodSeconds: 5
          livenessProbe:
            httpGet:
              path: /live
              port: http
            initialDelaySeconds: 10
          resources:
            requests:
              cpu: 100m
              memory: 256Mi
            limits:
              memory: 256Mi
          volumeMounts:
            - name: config
              mountPath: /etc/app
              readOnly: true
      volumes:
        - name: config
          configMap:
            name: ${app}
`;

const service = (app: string, namespace: string): string => `${head('v1', 'Service', app, namespace)}spec:
  selector:
    app.kubernetes.io/name: ${app}
  ports:
    - name: http
      port: 80
      targetPort: http
`;

const serviceAccount = (app: string, namespace: string): string =>
  `${head('v1', 'ServiceAccount', app, namespace)}automountServiceAccountToken: false
`;

const ingress = (
  app: string,
  namespace: string,
): string => `${head('networking.k8s.io/v1', 'Ingress', app, namespace)}  annotations:
    cert-manager.io/cluster-issuer: letsencrypt
    nginx.ingress.kubernetes.io/proxy-body-size: 8m # uploads
spec:
  ingressClassName: nginx
  tls:
    - hosts: [ '${app}.shop.example.com' ]
      secretName: ${app}-tls
  rules:
    - host: ${app}.shop.example.com
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: ${app}
                port:
                  name: http
`;

const networkPolicy = (
  app: string,
  namespace: string,
): string => `${head('networking.k8s.io/v1', 'NetworkPolicy', app, namespace)}spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: ${app}
  policyTypes:
  - Ingress
  ingress:
  - from:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: ingress-nginx
    ports:
    - port: 8080
      protocol: TCP
`;

const cronJob = (app: string, namespace: string): string => `${head('batch/v1', 'CronJob', app, namespace)}spec:
  schedule: "17 3 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 1
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: cleanup
              image: ghcr.io/acme/cleanup:1.4.0
              command:
                - /bin/sh
                - -c
                - |
                  set -eu
                  cleanup --app ${app} --older-than 30d
                  echo done
`;

const autoscaler = (
  app: string,
  namespace: string,
): string => `${head('autoscaling/v2', 'HorizontalPodAutoscaler', app, namespace)}spec:
  minReplicas: 2
  maxReplicas: 10
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${app} }
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: 70
`;

const budget = (
  app: string,
  namespace: string,
): string => `${head('policy/v1', 'PodDisruptionBudget', app, namespace)}spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: ${app}
`;

const helmRelease = (
  app: string,
  namespace: string,
  index: number,
): string => `# Upgraded by the bot, see the pull requests.
${head('helm.toolkit.fluxcd.io/v2', 'HelmRelease', app, namespace)}spec:
  interval: 30m
  chart:
    spec:
      chart: redis
      version: "19.${index % 6}.x" # {"$imagepolicy": "flux-system:redis"}
      sourceRef:
        kind: HelmRepository
        name: bitnami
        namespace: flux-system
  values:
    architecture: standalone
    auth:
      enabled: false
    master:
      persistence:
        enabled: true
        size: ${1 + (index % 4)}Gi
      resources:
        requests: { cpu: 50m, memory: 64Mi }
    metrics:
      enabled: true
      serviceMonitor:
        enabled: true
`;

/** Every third with folded text, which only some readers take in their stride. */
const rules = (
  app: string,
  namespace: string,
  index: number,
): string => `${head('monitoring.coreos.com/v1', 'PrometheusRule', app, namespace)}spec:
  groups:
    - name: ${app}.rules
      rules:
        - alert: TooManyErrors
          expr: |
            sum(rate(http_requests_total{app="${app}",code=~"5.."}[5m]))
              / sum(rate(http_requests_total{app="${app}"}[5m])) > 0.05
          for: 10m
          labels:
            severity: page
          annotations:
            summary: 'Errors of {{ $labels.app }} are above 5 %'
            description: ${index % 3 === 0 ? foldedText : 'More than one request in twenty has failed for ten minutes.'}
`;
const foldedText = `>-
              More than one request in twenty has failed for ten minutes. Look at the
              dashboard of the team first, then at the last deployment.`;
