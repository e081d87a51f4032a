import { type Condition, findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { isOlder } from '../../machinery/api/resource-version.ts';
import type { OutOfServiceRule } from '../model/policy.ts';
import type { EvidenceOrder } from './decide-order.ts';
import { type FencingEvidence, selectEvidence } from './select-evidence.ts';

/** The last heartbeat of a node by status and by lease: what kubelets wrote, compared for equality only. */
interface LastHeartbeat {
  readonly readyHeartbeat: string | undefined;
  readonly lease: { readonly renewTime?: string | undefined; readonly resourceVersion: string } | undefined;
  /** A heartbeat was observed since the node became Unknown, or since it is known. */
  readonly heartbeatSinceUnknown: boolean;
}

/** A state of a node that the watch brought, and the one before it; undefined: it is the first that this process sees. */
export interface NodeSighting {
  readonly node: NodeView;
  readonly before: NodeView | undefined;
  /** The last heartbeat, including what this state shows. */
  readonly heartbeat: LastHeartbeat;
  /** The watches are fresh and brought it: this state is not much older than its arrival, and follows on the one before. */
  readonly isFresh: boolean;
}

interface WatchedEvidence {
  readonly order: EvidenceOrder;
  /** The time in it when this process saw it first. */
  readonly at: string;
}

interface WatchedNode {
  readonly uid: string;
  heartbeat: LastHeartbeat;
  /** The evidence on it, by id. */
  evidence: ReadonlyMap<string, WatchedEvidence>;
}

/**
 * Whether evidence of fencing appeared after the last heartbeat of its node, as this process saw it; on standbys too, so that a
 * new leader knows. A heartbeat after the evidence disproves it for as long as it stays, whatever time is written into it
 * meanwhile. Evidence that was there before this process, or before its policy, has no known order. Remembers nodes with evidence
 * only.
 */
export class EvidenceWatch {
  readonly #ruleOf: (node: string) => OutOfServiceRule | undefined;
  readonly #nodes = new Map<string, WatchedNode>();

  constructor(ruleOf: (node: string) => OutOfServiceRule | undefined) {
    this.#ruleOf = ruleOf;
  }

  /** The watch of nodes brought this state. */
  observe(seen: NodeSighting): void {
    const { node, heartbeat } = seen;
    const rule = this.#ruleOf(node.name);
    const evidence = rule === undefined ? [] : selectEvidence(node, rule);
    if (rule === undefined || evidence.length === 0) return this.forget(node.name);
    this.observeHeartbeat(node.name, heartbeat);
    const known = this.#nodes.get(node.name);
    const watched = known?.uid === node.uid ? known.evidence : new Map<string, WatchedEvidence>();
    const earlier = new Set(seen.before === undefined ? [] : selectEvidence(seen.before, rule).map(({ id }) => id));
    const next = evidence.map(({ id, at }): [string, WatchedEvidence] => {
      return [id, watched.get(id) ?? { order: earlier.has(id) ? 'unknown' : orderOfArrival(seen), at }];
    });
    this.#nodes.set(node.name, { uid: node.uid, heartbeat, evidence: new Map(next) });
  }

  /** A heartbeat of this node may have arrived, by whichever channel. */
  observeHeartbeat(name: string, heartbeat: LastHeartbeat): void {
    const known = this.#nodes.get(name);
    if (known === undefined || isSame(known.heartbeat, heartbeat)) return;
    // The lease of a node may be listed after the node: then it is no heartbeat that came after evidence of unknown order.
    const isFirstLease = known.heartbeat.lease === undefined;
    known.heartbeat = heartbeat;
    disprove(known, ({ order }) => !isFirstLease || order !== 'unknown');
  }

  /** Whether a live read of the lease brought this heartbeat or none. If not, the evidence on the node is disproved. */
  confirm(name: string, renewTime: string | undefined): boolean {
    const known = this.#nodes.get(name);
    if (known === undefined) return false;
    if (renewTime === undefined || renewTime === known.heartbeat.lease?.renewTime) return true;
    disprove(known, () => true);
    return false;
  }

  /** The order that was observed. */
  orderOf(node: Pick<NodeView, 'name' | 'uid'>, evidence: FencingEvidence): EvidenceOrder {
    return this.#watched(node, evidence)?.order ?? 'unknown';
  }

  /**
   * Whether the time in it was written while it was there: then it is not the time at which it appeared, and proves no order.
   */
  isTimeRewritten(node: Pick<NodeView, 'name' | 'uid'>, evidence: FencingEvidence): boolean {
    return (this.#watched(node, evidence)?.at ?? evidence.at) !== evidence.at;
  }

  #watched({ name, uid }: Pick<NodeView, 'name' | 'uid'>, { id }: FencingEvidence): WatchedEvidence | undefined {
    const known = this.#nodes.get(name);
    return known?.uid === uid ? known.evidence.get(id) : undefined;
  }

  forget(name: string): void {
    this.#nodes.delete(name);
  }

  /** Number of nodes that it remembers. */
  get size(): number {
    return this.#nodes.size;
  }
}

/**
 * Order of evidence which the state before did not have. A state that brings a heartbeat too shows no order, and neither does one
 * that is older than the last renewal, by the versions of both: the watch of nodes is behind that of leases. While the
 * watches are fresh the evidence has just been set. Else it was set after the state before, in which the node was
 * Unknown already: a controller wrote that after the last heartbeat.
 */
function orderOfArrival({ node, before, heartbeat, isFresh }: NodeSighting): EvidenceOrder {
  if (before?.uid !== node.uid || hasReported(before, node)) return 'unknown';
  if (heartbeat.lease !== undefined && isOlder(node.resourceVersion, heartbeat.lease.resourceVersion)) return 'unknown';
  const isAfterUnknown = readyOf(before)?.status === 'Unknown' && !heartbeat.heartbeatSinceUnknown;
  return isFresh || isAfterUnknown ? 'newer' : 'unknown';
}

/** A status of the kubelet came between these states. */
function hasReported(before: NodeView, after: NodeView): boolean {
  return before.bootID !== after.bootID || readyOf(before)?.lastHeartbeatTime !== readyOf(after)?.lastHeartbeatTime;
}

function readyOf({ conditions }: NodeView): Condition | undefined {
  return findCondition(conditions, 'Ready');
}

function isSame(a: LastHeartbeat, b: LastHeartbeat): boolean {
  return a.readyHeartbeat === b.readyHeartbeat && a.lease?.renewTime === b.lease?.renewTime;
}

function disprove(node: WatchedNode, isMeant: (evidence: WatchedEvidence) => boolean): void {
  node.evidence = new Map(
    [...node.evidence].map(([id, evidence]) => [
      id,
      isMeant(evidence) ? { ...evidence, order: 'disproved' } : evidence,
    ]),
  );
}
