/** The columns of a printed table, each with its cell for an object. */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { textAt } from '../../../machinery/api/select-field.ts';
import { ageSince } from './describe-age.ts';

/** `TableColumnDefinition` of `meta.k8s.io/v1`. Columns of priority 1 are shown by `-o wide` only. */
export interface Column {
  readonly name: string;
  readonly type: string;
  /** `name` marks the column that identifies the object. */
  readonly format: '' | 'name';
  readonly description: string;
  readonly priority: number;
}

/** Null: a field that a custom resource does not have. */
export type Cell = string | number | boolean | null;

/** Never throws, whatever the content of the object. */
type CellOf<C extends Cell> = (object: JsonMap, nowMs: number) => C;

export interface PrintedColumn extends Column {
  readonly cell: CellOf<Cell>;
}

/** A string column that is always printed. */
export function column(name: string, description: string, cell: CellOf<string>): PrintedColumn {
  return { name, type: 'string', format: '', description, priority: 0, cell };
}

/** A string column that only `-o wide` prints. */
export function wideColumn(name: string, description: string, cell: CellOf<string>): PrintedColumn {
  return { ...column(name, description, cell), priority: 1 };
}

/** An integer column that is always printed. */
export function countColumn(name: string, description: string, cell: CellOf<number>): PrintedColumn {
  return { name, type: 'integer', format: '', description, priority: 0, cell };
}

/** Numbers in a column of type string, as upstream has some. */
export function numberColumn(name: string, description: string, cell: CellOf<number>): PrintedColumn {
  return { ...countColumn(name, description, cell), type: 'string' };
}

export const nameColumn: PrintedColumn = {
  ...column('Name', 'Name, unique within its kind and namespace.', (object) => textAt(object, 'metadata', 'name')),
  format: 'name',
};

export const ageColumn = column('Age', 'Time since the creation of the object.', (object, nowMs) =>
  ageSince(textAt(object, 'metadata', 'creationTimestamp'), nowMs),
);
