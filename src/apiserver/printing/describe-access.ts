/** The groups rbac.authorization.k8s.io and certificates.k8s.io (upstream `printRoleBinding`, `printCertificateSigningRequest`). */
import type { JsonMap } from '../../api/json-map.ts';
import { mapsAt, textAt, valueAt } from '../select-field.ts';
import { humanDuration } from './describe-age.ts';
import { ageColumn, column, nameColumn, type PrintedColumn, wideColumn } from './describe-columns.ts';

/** Of RoleBindings and ClusterRoleBindings. */
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

export const signingRequestColumns: readonly PrintedColumn[] = [
  nameColumn,
  ageColumn,
  column('SignerName', 'Name of the requested signer.', (request) => textAt(request, 'spec', 'signerName') || '<none>'),
  column('Requestor', 'User that created the request.', (request) => textAt(request, 'spec', 'username')),
  column('RequestedDuration', 'Requested validity of the certificate.', (request) => {
    const seconds = valueAt(request, 'spec', 'expirationSeconds');
    return typeof seconds === 'number' ? humanDuration(seconds * 1_000) : '<none>';
  }),
  column(
    'Condition',
    'Whether the request is approved or denied, and whether a certificate was issued.',
    describeState,
  ),
];

function nameOf(subject: JsonMap): string {
  return textAt(subject, 'name');
}

function subjectsOf(binding: JsonMap, kind: string, describe: (subject: JsonMap) => string): string {
  const subjects = mapsAt(binding, 'subjects').filter((subject) => textAt(subject, 'kind') === kind);
  return subjects.map(describe).join(', ');
}

/** A condition counts whatever its status is: validation accepts no other than True for approval and denial. */
function describeState(request: JsonMap): string {
  const conditions = new Set(mapsAt(request, 'status', 'conditions').map((condition) => textAt(condition, 'type')));
  const words = [conditions.has('Denied') ? 'Denied' : conditions.has('Approved') ? 'Approved' : 'Pending'];
  if (conditions.has('Failed')) words.push('Failed');
  if (textAt(request, 'status', 'certificate') !== '') words.push('Issued');
  return words.join(',');
}
