/** ConfigMaps (upstream `printConfigMap`). */
import { mapAt } from '../select-field.ts';
import { ageColumn, nameColumn, numberColumn, type PrintedColumn } from './describe-columns.ts';

export const configMapColumns: readonly PrintedColumn[] = [
  nameColumn,
  numberColumn('Data', 'Number of entries.', (configMap) =>
    ['data', 'binaryData'].reduce((sum, field) => sum + Object.keys(mapAt(configMap, field)).length, 0),
  ),
  ageColumn,
];
