/** The columns of every kind that the server prints: facts of `pkg/printers/internalversion` in kube-apiserver 1.36. */
import { textAt } from '../select-field.ts';
import { ageColumn, column, nameColumn, type PrintedColumn } from './describe-columns.ts';
import { roleBindingColumns } from './describe-access.ts';
import { configMapColumns } from './describe-config-map.ts';
import { daemonSetColumns } from './describe-daemon-set.ts';
import { eventColumns } from './describe-event.ts';
import { nodeColumns } from './describe-node.ts';
import { podColumns } from './describe-pod.ts';
import {
  budgetColumns,
  deploymentColumns,
  replicaSetColumns,
  scaleColumns,
  statefulSetColumns,
} from './describe-workloads.ts';

/** Of roles (upstream `rest.NewDefaultTableConvertor`): the client converts the date to an age. */
const roleColumns: readonly PrintedColumn[] = [
  nameColumn,
  {
    ...column('Created At', 'Time of creation.', (object) => {
      return textAt(object, 'metadata', 'creationTimestamp') || '0001-01-01T00:00:00Z';
    }),
    type: 'date',
  },
];

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
  'autoscaling/Scale': scaleColumns,
  'rbac.authorization.k8s.io/ClusterRole': roleColumns,
  'rbac.authorization.k8s.io/ClusterRoleBinding': roleBindingColumns,
  'rbac.authorization.k8s.io/Role': roleColumns,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingColumns,
  'apps/DaemonSet': daemonSetColumns,
  'apps/Deployment': deploymentColumns,
  'apps/ReplicaSet': replicaSetColumns,
  'apps/StatefulSet': statefulSetColumns,
  'policy/PodDisruptionBudget': budgetColumns,
  'events.k8s.io/Event': eventColumns,
  // Upstream `printLease`.
  'coordination.k8s.io/Lease': [
    nameColumn,
    column('Holder', 'Identity of the holder.', (lease) => textAt(lease, 'spec', 'holderIdentity')),
    ageColumn,
  ],
};

/** Columns of the other kinds, which the server only stores. */
export const defaultColumns: readonly PrintedColumn[] = [nameColumn, ageColumn];
