import type { KubeObject } from '../../../../src/machinery/api/meta.ts';
import type { Column } from '../../../../src/hollow-cluster/apiserver/printing/describe-columns.ts';
import type { Table, TableRow } from '../../../../src/hollow-cluster/apiserver/printing/table.ts';

/** A table without descriptions and messages, whose texts differ from those of kube-apiserver, as plain JSON. */
interface ComparableTable {
  readonly columns: readonly string[] | undefined;
  readonly rows: readonly object[];
}

/** A table of kube-apiserver with the objects that it prints. */
export interface RecordedTable extends ComparableTable {
  /** Wall time of the recording, to which the ages are computed. */
  readonly atMs: number;
  readonly objects: readonly KubeObject[];
}

/** Columns as `Name string name 0`: name, type, format and priority. */
export function comparableTable({ columnDefinitions, rows }: Table): ComparableTable {
  return { columns: columnDefinitions?.map(columnText), rows: rows.map(comparableRow) };
}

function columnText({ name, type, format, priority }: Column): string {
  return [name, type, ...(format === '' ? [] : [format]), priority].join(' ');
}

function comparableRow({ cells, conditions }: TableRow): object {
  if (conditions === undefined) return { cells };
  return { cells, conditions: conditions.map(({ message: _message, ...condition }) => condition) };
}
