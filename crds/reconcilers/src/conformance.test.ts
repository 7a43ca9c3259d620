import { startDevcluster } from '@gitops-reverser/devcluster';
import { describeConformance } from './testing/conformance.fixture.js';

describeConformance('devcluster', async () => {
  const cluster = await startDevcluster({ namespaces: ['default'] });
  return {
    kubeconfig: cluster.kubeconfig(),
    isOurs: true,
    restart: () => cluster.restart(),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
});
