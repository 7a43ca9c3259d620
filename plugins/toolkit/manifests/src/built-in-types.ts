/** `Kind=plural`; those without a namespace behind the bar. Plurals are never made from kinds: what is not here is not known. */
const typesByGroup: Readonly<Record<string, string>> = {
  '': 'ConfigMap=configmaps Endpoints=endpoints Event=events LimitRange=limitranges PersistentVolumeClaim=persistentvolumeclaims Pod=pods PodTemplate=podtemplates ReplicationController=replicationcontrollers ResourceQuota=resourcequotas Secret=secrets Service=services ServiceAccount=serviceaccounts | Namespace=namespaces Node=nodes PersistentVolume=persistentvolumes',
  'admissionregistration.k8s.io':
    '| MutatingWebhookConfiguration=mutatingwebhookconfigurations ValidatingAdmissionPolicy=validatingadmissionpolicies ValidatingAdmissionPolicyBinding=validatingadmissionpolicybindings ValidatingWebhookConfiguration=validatingwebhookconfigurations MutatingAdmissionPolicy=mutatingadmissionpolicies MutatingAdmissionPolicyBinding=mutatingadmissionpolicybindings',
  'apiextensions.k8s.io': '| CustomResourceDefinition=customresourcedefinitions',
  'apiregistration.k8s.io': '| APIService=apiservices',
  apps: 'ControllerRevision=controllerrevisions DaemonSet=daemonsets Deployment=deployments ReplicaSet=replicasets StatefulSet=statefulsets',
  autoscaling: 'HorizontalPodAutoscaler=horizontalpodautoscalers',
  batch: 'CronJob=cronjobs Job=jobs',
  'certificates.k8s.io': '| CertificateSigningRequest=certificatesigningrequests',
  'coordination.k8s.io': 'Lease=leases',
  'discovery.k8s.io': 'EndpointSlice=endpointslices',
  'events.k8s.io': 'Event=events',
  'flowcontrol.apiserver.k8s.io': '| FlowSchema=flowschemas PriorityLevelConfiguration=prioritylevelconfigurations',
  'networking.k8s.io':
    'Ingress=ingresses NetworkPolicy=networkpolicies | IngressClass=ingressclasses IPAddress=ipaddresses ServiceCIDR=servicecidrs',
  'node.k8s.io': '| RuntimeClass=runtimeclasses',
  policy: 'PodDisruptionBudget=poddisruptionbudgets',
  'rbac.authorization.k8s.io':
    'Role=roles RoleBinding=rolebindings | ClusterRole=clusterroles ClusterRoleBinding=clusterrolebindings',
  'resource.k8s.io':
    'ResourceClaim=resourceclaims ResourceClaimTemplate=resourceclaimtemplates | DeviceClass=deviceclasses ResourceSlice=resourceslices',
  'scheduling.k8s.io': '| PriorityClass=priorityclasses',
  'storage.k8s.io':
    'CSIStorageCapacity=csistoragecapacities | CSIDriver=csidrivers CSINode=csinodes StorageClass=storageclasses VolumeAttachment=volumeattachments VolumeAttributesClass=volumeattributesclasses',
};

export interface BuiltInType {
  readonly resource: string;
  readonly namespaced: boolean;
}

const types = new Map<string, BuiltInType>();
for (const [group, text] of Object.entries(typesByGroup)) {
  text.split('|').forEach((half, at) => {
    for (const pair of half.trim().split(' ')) {
      const [kind = '', resource] = pair.split('=');
      if (resource !== undefined) types.set(`${group}/${kind}`, { resource, namespaced: at === 0 });
    }
  });
}

/** What every Kubernetes calls this kind. */
export function builtInType(group: string, kind: string): BuiltInType | undefined {
  return types.get(`${group}/${kind}`);
}
