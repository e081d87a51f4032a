import { listConditions } from '../../machinery/api/conditions.ts';
import { listLimits } from '../../machinery/api/limits.ts';
import type { Node } from '../../machinery/api/node.ts';
import type { Storage } from '../server/storage.ts';
import { editTaints } from './administrator.ts';
import type { ClusterFault } from './world-fault.ts';

type LargeObject = Extract<ClusterFault, { kind: 'large-object' }>;

const prefix = 'many.example.com/t';
const taintCount = listLimits.taints + 10;
const message = 'x'.repeat(10_000);

/**
 * Before its other taints the node gets more than are used, and its conditions get long messages, which last until the kubelet
 * reports others. Returns the function that removes the taints.
 */
export function enlarge(
  storage: Storage,
  { node: name, effect }: LargeObject,
  attempt: (act: () => void) => void,
): () => void {
  const many = Array.from({ length: taintCount }, (_, place) => ({ key: `${prefix}${place}`, effect }));
  const isOther = ({ key }: { readonly key: string }): boolean => !key.startsWith(prefix);
  const put = (first: typeof many): void =>
    attempt(() => editTaints(storage, name, (taints) => [...first, ...taints.filter(isOther)]));
  put(many);
  attempt(() => lengthenMessages(storage, name));
  return () => put([]);
}

function lengthenMessages(storage: Storage, name: string): void {
  const node: Node | undefined = storage.get('nodes', { name });
  if (node === undefined) return;
  const conditions = listConditions(node.status?.conditions).map((condition) => ({ ...condition, message }));
  storage.merge('nodes', { name }, { status: { conditions } }, 'status');
}
