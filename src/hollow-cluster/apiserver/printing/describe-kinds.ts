/** The columns of every kind that the server prints: facts of `pkg/printers/internalversion` in kube-apiserver 1.36. */
import { textAt } from '../select-field.ts';
import { ageColumn, column, nameColumn, type PrintedColumn } from './describe-columns.ts';
import { roleBindingColumns } from './describe-access.ts';
import {
  mutatingPolicyColumns,
  policyBindingColumns,
  validatingPolicyColumns,
  webhookColumns,
} from './describe-admission.ts';
import { autoscalerColumns, scaleColumns } from './describe-autoscaler.ts';
import { configMapColumns, secretColumns, serviceAccountColumns, serviceColumns } from './describe-core-objects.ts';
import { daemonSetColumns } from './describe-daemon-set.ts';
import { endpointSliceColumns, endpointsColumns } from './describe-endpoints.ts';
import { eventColumns } from './describe-event.ts';
import { flowSchemaColumns, priorityLevelColumns } from './describe-flow-control.ts';
import {
  ingressClassColumns,
  ingressColumns,
  ipAddressColumns,
  networkPolicyColumns,
  serviceCidrColumns,
} from './describe-networking.ts';
import { nodeColumns } from './describe-node.ts';
import { podColumns } from './describe-pod.ts';
import { resourceQuotaColumns } from './describe-quota.ts';
import {
  nameAndAgeColumns,
  priorityClassColumns,
  resourceClaimColumns,
  resourceSliceColumns,
  runtimeClassColumns,
} from './describe-scheduling.ts';
import {
  attributesClassColumns,
  csiDriverColumns,
  csiNodeColumns,
  persistentVolumeColumns,
  storageClassColumns,
  volumeAttachmentColumns,
  volumeClaimColumns,
} from './describe-storage.ts';
import {
  budgetColumns,
  controllerRevisionColumns,
  cronJobColumns,
  deploymentColumns,
  jobColumns,
  podTemplateColumns,
  replicaSetColumns,
  replicationControllerColumns,
  statefulSetColumns,
} from './describe-workloads.ts';

/** Columns by group and kind. */
export const columnsByKind: Readonly<Record<string, readonly PrintedColumn[]>> = {
  '/Node': nodeColumns,
  '/Pod': podColumns,
  '/Event': eventColumns,
  // Upstream `printNamespace`.
  '/Namespace': [
    nameColumn,
    column('Status', 'Phase of the namespace: Active or Terminating.', (object) => textAt(object, 'status', 'phase')),
    ageColumn,
  ],
  '/ConfigMap': configMapColumns,
  '/Secret': secretColumns,
  '/Service': serviceColumns,
  '/ServiceAccount': serviceAccountColumns,
  '/PodTemplate': podTemplateColumns,
  '/ReplicationController': replicationControllerColumns,
  '/Endpoints': endpointsColumns,
  '/PersistentVolume': persistentVolumeColumns,
  '/PersistentVolumeClaim': volumeClaimColumns,
  '/ResourceQuota': resourceQuotaColumns,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingPolicyColumns,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': policyBindingColumns,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookColumns,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingPolicyColumns,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': policyBindingColumns,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookColumns,
  'apps/ControllerRevision': controllerRevisionColumns,
  'autoscaling/HorizontalPodAutoscaler': autoscalerColumns,
  'autoscaling/Scale': scaleColumns,
  'batch/CronJob': cronJobColumns,
  'discovery.k8s.io/EndpointSlice': endpointSliceColumns,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaColumns,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelColumns,
  'networking.k8s.io/Ingress': ingressColumns,
  'networking.k8s.io/IngressClass': ingressClassColumns,
  'networking.k8s.io/IPAddress': ipAddressColumns,
  'networking.k8s.io/NetworkPolicy': networkPolicyColumns,
  'networking.k8s.io/ServiceCIDR': serviceCidrColumns,
  'node.k8s.io/RuntimeClass': runtimeClassColumns,
  'rbac.authorization.k8s.io/ClusterRoleBinding': roleBindingColumns,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingColumns,
  'resource.k8s.io/DeviceClass': nameAndAgeColumns,
  'resource.k8s.io/ResourceClaim': resourceClaimColumns,
  'resource.k8s.io/ResourceClaimTemplate': nameAndAgeColumns,
  'resource.k8s.io/ResourceSlice': resourceSliceColumns,
  'scheduling.k8s.io/PriorityClass': priorityClassColumns,
  'storage.k8s.io/CSIDriver': csiDriverColumns,
  'storage.k8s.io/CSINode': csiNodeColumns,
  'storage.k8s.io/StorageClass': storageClassColumns,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentColumns,
  'storage.k8s.io/VolumeAttributesClass': attributesClassColumns,
  'apps/DaemonSet': daemonSetColumns,
  'apps/Deployment': deploymentColumns,
  'apps/ReplicaSet': replicaSetColumns,
  'apps/StatefulSet': statefulSetColumns,
  'batch/Job': jobColumns,
  'policy/PodDisruptionBudget': budgetColumns,
  'events.k8s.io/Event': eventColumns,
  // Upstream `printLease`.
  'coordination.k8s.io/Lease': [
    nameColumn,
    column('Holder', 'Identity of the holder.', (lease) => textAt(lease, 'spec', 'holderIdentity')),
    ageColumn,
  ],
};

/**
 * Columns of the other kinds, among them roles and limit ranges (upstream `rest.NewDefaultTableConvertor`): the client
 * converts the date to an age.
 */
export const defaultColumns: readonly PrintedColumn[] = [
  nameColumn,
  {
    ...column('Created At', 'Time of creation.', (object) => {
      return textAt(object, 'metadata', 'creationTimestamp') || '0001-01-01T00:00:00Z';
    }),
    type: 'date',
  },
];
