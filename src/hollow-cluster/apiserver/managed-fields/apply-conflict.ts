/** The error of an apply with conflicts (upstream `managedfields/internal/conflict.go`). */
import type { ApiError } from '../../../machinery/api/api-error.ts';
import { statusError } from '../api-errors/api-errors.ts';
import type { ManagerEntry } from './manager-entry.ts';
import { describePath } from './path-element.ts';
import type { Conflict } from './applied-object.ts';

/** 409 with one cause for each field. */
export function applyConflict(conflicts: readonly Conflict[]): ApiError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeManager(manager)}`,
    field: describePath(path),
  }));
  return statusError(409, 'Conflict', describeAll(conflicts), { causes });
}

function describeAll(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    const conflict = `conflict with ${describeManager(first.manager)}: ${describePath(first.path)}`;
    return `Apply failed with 1 conflict: ${conflict}`;
  }
  const groups = [...Map.groupBy(conflicts, ({ manager }) => describeManager(manager))];
  const lines = groups
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, group]) => [`conflicts with ${name}:`, ...group.map(({ path }) => `- ${describePath(path)}`)]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

/** An updater is described with its version. */
function describeManager({ manager, operation, apiVersion, subresource }: ManagerEntry): string {
  const part = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
