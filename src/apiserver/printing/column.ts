/** The words of a printed table: columns, cells and what prints one kind. */
import type { Fields } from './derive-field.ts';

/** `TableColumnDefinition` of `meta.k8s.io/v1`. Columns of priority 1 are shown by `-o wide` only. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  /** `name` marks the column that identifies the object. */
  readonly format: '' | 'name';
  readonly description: string;
  readonly priority: 0 | 1;
}

export type Cell = string | number;

/** Said about a whole row; `Completed` lets clients leave finished pods out. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** What one object looks like: a cell for every column, in order. */
export interface PrintedRow {
  readonly cells: readonly Cell[];
  readonly conditions?: readonly RowCondition[];
}

/** Prints one kind. `print` never throws, whatever the object holds. */
export interface Printer {
  readonly columns: readonly Column[];
  print(object: Fields, nowMs: number): PrintedRow;
}
