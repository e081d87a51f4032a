import type { NodeCell } from '../../dashboard/protocol.ts';

/** The fields that can be compared by themselves. */
const fields = [
  'name',
  'state',
  'since',
  'zone',
  'policy',
  'pods',
  'held',
] as const satisfies readonly (keyof NodeCell)[];

/** Whether both show the same. */
export function isSameCell(a: NodeCell, b: NodeCell): boolean {
  return fields.every((field) => a[field] === b[field]) && isSameStep(a.next, b.next);
}

function isSameStep(a: NodeCell['next'], b: NodeCell['next']): boolean {
  return a?.what === b?.what && a?.at === b?.at;
}
