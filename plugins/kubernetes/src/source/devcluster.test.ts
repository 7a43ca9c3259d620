import { startDevcluster } from '@gitops-reverser/devcluster';
import { describeConformance } from './conformance.fixture.js';

describeConformance('the embedded API server', async () => {
  const cluster = await startDevcluster({ users: [{ name: 'bob', groups: ['developers'] }] });
  cluster.faults.deny({ user: 'bob' });
  return {
    collections: 60,
    kubeconfig: cluster.kubeconfig(),
    powerless: cluster.kubeconfig('bob'),
    restart: () => cluster.restart(),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
});
