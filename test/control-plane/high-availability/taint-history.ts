// The history of each node's taints, from the responses to the writes that changed them.
import { noExecuteTaints, type Taint } from '../../../src/machinery/api/taints.ts';
import type { AuditedRequest } from '../audit-trail.ts';
import { versionOf } from './leadership-terms.ts';

export interface TaintAct {
  readonly node: string;
  readonly atMs: number;
  readonly user: string;
  readonly added: readonly Taint[];
  readonly removed: readonly Taint[];
  /** Taints that stayed with another timeAdded. */
  readonly restamped: readonly Taint[];
}

interface NodeBody {
  readonly spec?: { readonly taints?: readonly Taint[] };
}

/** The taint that the admission plugin adds to every new node. */
const born: readonly Taint[] = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];

/** All successful writes to nodes' taints, in the order of resourceVersion, including those without a change. */
export function findTaintActs(requests: readonly AuditedRequest[]): readonly TaintAct[] {
  const now = new Map<string, readonly Taint[]>();
  return requests
    .filter(isTaintWrite)
    .toSorted((a, b) => versionOf(a) - versionOf(b))
    .map(({ name: node, atMs, user, answer }) => {
      const before = now.get(node) ?? born;
      const after = (answer as NodeBody).spec?.taints ?? [];
      now.set(node, after);
      return { node, atMs, user, ...compare(before, after) };
    });
}

export function addsNoExecute({ added, removed }: TaintAct): boolean {
  return noExecuteTaints(added).length > 0 && noExecuteTaints(removed).length === 0;
}

function isTaintWrite({ resource, subresource, verb, code, body }: AuditedRequest): boolean {
  const touchesTaints = (body as NodeBody | undefined)?.spec !== undefined;
  return resource === 'nodes' && subresource === '' && verb === 'patch' && code === 200 && touchesTaints;
}

function compare(before: readonly Taint[], after: readonly Taint[]): Pick<TaintAct, 'added' | 'removed' | 'restamped'> {
  const same = (a: Taint) => (b: Taint) => a.key === b.key && a.effect === b.effect;
  return {
    added: after.filter((taint) => !before.some(same(taint))),
    removed: before.filter((taint) => !after.some(same(taint))),
    restamped: after.filter((taint) => {
      const known = before.find(same(taint));
      return known !== undefined && known.timeAdded !== taint.timeAdded;
    }),
  };
}
