/** Resource quotas (upstream `printResourceQuota`). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { canonicalQuantity } from '../../../machinery/api/quantity.ts';
import { mapAt, textAt } from '../select-field.ts';
import { ageColumn, column, nameColumn, type PrintedColumn } from './describe-columns.ts';

const limitPrefix = 'limits.';

export const resourceQuotaColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Request', 'Requested amounts and numbers of objects, each used and in total.', (quota) =>
    describeUse(quota, (resource) => !resource.startsWith(limitPrefix)),
  ),
  column('Limit', 'Limits of resources, each used and in total.', (quota) =>
    describeUse(quota, (resource) => resource.startsWith(limitPrefix)),
  ),
  ageColumn,
];

function describeUse(quota: JsonMap, isShown: (resource: string) => boolean): string {
  const resources = Object.keys(mapAt(quota, 'status', 'hard'))
    .filter(isShown)
    .sort();
  const amount = (resource: string, field: string): string =>
    canonicalQuantity(textAt(quota, 'status', field, resource) || '0');
  return resources.map((each) => `${each}: ${amount(each, 'used')}/${amount(each, 'hard')}`).join(', ');
}
