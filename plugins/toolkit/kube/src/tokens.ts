import { token } from '@gitops-reverser/kernel-api';
import type { KubeConnection } from './connection.js';

/** The connection of a source cluster, as its owner opened it. */
export const kubeConnection = token<KubeConnection, 'cluster'>('kube-connection', 'cluster');

/** Whether the source cluster is the one our own objects live in. */
export const clusterLocality = token<'local' | 'remote', 'cluster'>('cluster-locality', 'cluster');
