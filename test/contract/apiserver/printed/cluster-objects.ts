// Roles and bindings.
import { anObject, type PrintedObject } from './printed-object.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

const apiGroup = 'rbac.authorization.k8s.io';
const subjects = [
  { kind: 'ServiceAccount', namespace: 'kube-system', name: 'a' },
  { kind: 'Group', apiGroup, name: 'system:nodes' },
  { kind: 'User', apiGroup, name: 'u2' },
  { kind: 'User', apiGroup, name: 'u1' },
  { kind: 'ServiceAccount', namespace: 'default', name: 'b' },
];

const accessObjects: readonly PrintedObject[] = [
  anObject(`${rbac}/namespaces/default/roles`, 'reader', { rules: [] }),
  anObject(`${rbac}/clusterroles`, 'own-reader', { rules: [] }),
  anObject(`${rbac}/namespaces/default/rolebindings`, 'few', { roleRef: { apiGroup, kind: 'Role', name: 'reader' } }),
  anObject(`${rbac}/namespaces/default/rolebindings`, 'many', {
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'own-reader' },
    subjects,
  }),
  anObject(`${rbac}/clusterrolebindings`, 'own-few', {
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'own-reader' },
  }),
  anObject(`${rbac}/clusterrolebindings`, 'own-many', {
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'own-reader' },
    subjects,
  }),
];

export const clusterObjects: readonly PrintedObject[] = accessObjects;
