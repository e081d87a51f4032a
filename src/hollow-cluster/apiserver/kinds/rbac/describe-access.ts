/** The group rbac.authorization.k8s.io (upstream `printRoleBinding`). */
import type { JsonMap } from '../../../../machinery/api/json-map.ts';
import { mapsAt, textAt } from '../../../../machinery/api/select-field.ts';
import { ageColumn, column, nameColumn, type PrintedColumn, wideColumn } from '../../printing/describe-columns.ts';

/** Columns of roles (upstream `rest.NewDefaultTableConvertor`): the client converts the date to an age. */
export const roleColumns: readonly PrintedColumn[] = [
  nameColumn,
  {
    ...column('Created At', 'Time of creation.', (object) => {
      return textAt(object, 'metadata', 'creationTimestamp') || '0001-01-01T00:00:00Z';
    }),
    type: 'date',
  },
];

/** Columns of RoleBindings and ClusterRoleBindings. */
export const roleBindingColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Role', 'Kind and name of the role.', (binding) => {
    return `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`;
  }),
  ageColumn,
  wideColumn('Users', 'Users that have the role.', (binding) => subjectsOf(binding, 'User', nameOf)),
  wideColumn('Groups', 'Groups that have the role.', (binding) => subjectsOf(binding, 'Group', nameOf)),
  wideColumn('ServiceAccounts', 'Service accounts that have the role, with their namespaces.', (binding) =>
    subjectsOf(binding, 'ServiceAccount', (subject) => `${textAt(subject, 'namespace')}/${nameOf(subject)}`),
  ),
];

function nameOf(subject: JsonMap): string {
  return textAt(subject, 'name');
}

function subjectsOf(binding: JsonMap, kind: string, describe: (subject: JsonMap) => string): string {
  const subjects = mapsAt(binding, 'subjects').filter((subject) => textAt(subject, 'kind') === kind);
  return subjects.map(describe).join(', ');
}
