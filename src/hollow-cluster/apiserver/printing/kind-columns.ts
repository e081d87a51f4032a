/** The columns of every kind that the server prints: facts of `pkg/printers/internalversion` in kube-apiserver 1.36. */
import { namespaceColumns } from '../kinds/namespace/namespace-strategy.ts';
import { leaseColumns } from '../kinds/lease/lease-strategy.ts';
import { roleBindingColumns, roleColumns } from '../kinds/rbac/describe-access.ts';
import { budgetColumns } from '../kinds/budget/budget-strategy.ts';
import { ageColumn, nameColumn, type PrintedColumn } from './describe-columns.ts';
import { configMapColumns } from '../kinds/config-map/config-map.ts';
import {
  daemonSetColumns,
  deploymentColumns,
  replicaSetColumns,
  scaleColumns,
  statefulSetColumns,
} from '../kinds/workloads/describe-workloads.ts';
import { eventColumns } from '../kinds/event/describe-event.ts';
import { nodeColumns } from '../kinds/node/describe-node.ts';
import { podColumns } from '../kinds/pod/describe-pod.ts';

/** Columns by group and kind. */
export const columnsByKind: Readonly<Record<string, readonly PrintedColumn[]>> = {
  '/Node': nodeColumns,
  '/Pod': podColumns,
  '/Event': eventColumns,
  '/Namespace': namespaceColumns,
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
  'coordination.k8s.io/Lease': leaseColumns,
};

/** Columns of the other kinds, which the server only stores. */
export const defaultColumns: readonly PrintedColumn[] = [nameColumn, ageColumn];
