import type { NodeCell } from '../../dashboard/protocol.ts';

/** Whether both show the same. */
export function isSameCell(a: NodeCell, b: NodeCell): boolean {
  return (
    a.name === b.name &&
    a.state === b.state &&
    a.since === b.since &&
    a.zone === b.zone &&
    a.policy === b.policy &&
    a.pods === b.pods &&
    a.held === b.held &&
    a.next?.what === b.next?.what &&
    a.next?.at === b.next?.at
  );
}
