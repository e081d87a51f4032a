/** The kinds that have little to show: a lease, a namespace, and whatever has no printer of its own. */
import type { Printer } from './column.ts';
import { textAt } from './derive-field.ts';
import { ageSince } from './describe-age.ts';
import { ageColumn, column, nameColumn } from './describe-columns.ts';

/** Leases (upstream `printLease`). */
export const leasePrinter: Printer = {
  columns: [nameColumn, column('Holder', 'Who holds the lease.'), ageColumn],
  print: (lease, nowMs) => ({
    cells: [
      textAt(lease, 'metadata', 'name'),
      textAt(lease, 'spec', 'holderIdentity'),
      ageSince(textAt(lease, 'metadata', 'creationTimestamp'), nowMs),
    ],
  }),
};

/** Namespaces (upstream `printNamespace`). */
export const namespacePrinter: Printer = {
  columns: [nameColumn, column('Status', 'Whether the namespace is in use or being emptied.'), ageColumn],
  print: (namespace, nowMs) => ({
    cells: [
      textAt(namespace, 'metadata', 'name'),
      textAt(namespace, 'status', 'phase'),
      ageSince(textAt(namespace, 'metadata', 'creationTimestamp'), nowMs),
    ],
  }),
};

/** Everything else (upstream `rest.NewDefaultTableConvertor`): the client makes an age of the date. */
export const defaultPrinter: Printer = {
  columns: [nameColumn, { ...column('Created At', 'When the object was created.'), type: 'date' }],
  print: (object) => ({
    cells: [textAt(object, 'metadata', 'name'), textAt(object, 'metadata', 'creationTimestamp')],
  }),
};
