// Which nodes of a policy are being emptied by a NoExecute taint for their health, for its maximum of such nodes. Derived from
// nodes and pods at each question; what is remembered only saves questions.
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import {
  type HealthTaintKey,
  isForHealth,
  noExecuteTaints,
  outOfServiceTaintKey,
  ownOutOfServiceValue,
  type Taint,
  taintKeys,
} from '../../machinery/api/taints.ts';
import { toleratesForever } from '../../machinery/api/tolerations.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { NodeSource } from '../model/commands.ts';
import type { EmptyingStatus, NodePolicy } from '../model/policy.ts';
import type { NodePolicies, PolicyOptions } from './node-policies.ts';
import type { Drain } from './overflow-nodes.ts';

export interface EmptyingNodesOptions {
  readonly options: Live<Pick<PolicyOptions, 'policies'>>;
  readonly policies: Pick<NodePolicies, 'claimsOf' | 'keeperOf'>;
  readonly nodes: NodeSource;
  /** Names of all nodes. */
  readonly names: () => Iterable<string>;
  readonly podsOn: (node: string) => readonly PodView[];
  /** Nodes to which NoExecute taints for their health are being added. Read at each question. */
  readonly beingTainted: () => readonly BeingTainted[];
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
}

/** All nodes are searched for taints again after this time, whatever changes were missed. */
const searchAgainMs = 60_000;
/** Time for which, after an answer that holds a node, others of its policy are held without another count. */
const heldForMs = 100;

/** The NoExecute taint that a node is to get: of its Ready condition, or the taint out-of-service of this controller. */
export type NextTaint = 'of-status' | 'out-of-service';

interface BeingTainted {
  readonly next: NextTaint;
  readonly nodes: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>;
}

const outOfService: Taint = { key: outOfServiceTaintKey, value: ownOutOfServiceValue, effect: 'NoExecute' };

type FullPolicy = Pick<EmptyingStatus, 'policy' | 'max'>;

/** A policy with a maximum. */
interface CappedPolicy extends NodePolicy {
  readonly maxConcurrentEvictions: number;
}

/**
 * A node is being emptied while it has a NoExecute taint for its health, or gets one, and has pods that do not tolerate it for
 * ever, do not terminate yet and are not kept by their policy.
 */
export class EmptyingNodes {
  readonly #options: EmptyingNodesOptions;
  /** Every node that may have a taint for its health; checked at each question. */
  readonly #candidates = new Set<string>();
  /** The nodes that were found last, by policy: they are looked at first. */
  readonly #found = new Map<string, readonly string[]>();
  /** Time at which a node was held last, by policy, on the monotonic clock. */
  readonly #heldAtMs = new Map<string, number>();
  /** The policies for which candidates are kept; undefined: for none. */
  #policies: readonly NodePolicy[] | undefined;
  #searchedAtMs = -Infinity;

  constructor(options: EmptyingNodesOptions) {
    this.#options = options;
  }

  /**
   * The maximum for which a node does not get the next NoExecute taint for its health now; undefined: there is none, or a place. Cheap:
   * called before each request.
   */
  fullFor(name: string, next?: NextTaint): FullPolicy | undefined {
    const capped = this.#cappedOf(name);
    if (capped.length === 0 || !this.#needsPlace(name, next)) return undefined;
    const full = capped.find((policy) => {
      const mayCount = !this.#isHeldRecently(policy) || this.#isBeingTainted(name);
      return !mayCount || this.#others(policy, name) >= policy.maxConcurrentEvictions;
    });
    return full && { policy: full.name, max: full.maxConcurrentEvictions };
  }

  /**
   * What a node that is not healthy has left to evict for that, whether its policy has a maximum or not. Pods that terminate for ever count
   * where the taint out-of-service may end them.
   */
  drainOf(name: string): Drain {
    const node = this.#options.nodes.get(name);
    if (node === undefined) return 'nothing';
    if (this.#isEmptied(name) || this.#mayEndByFencing(node)) return 'begun';
    return this.#evicts(name, [taintOf(node)]) ? 'waiting' : 'nothing';
  }

  #mayEndByFencing(node: NodeView): boolean {
    if (healthTaintsOf(node).length === 0) return false;
    const isFenced = this.#options.policies.claimsOf(node.name).some(({ outOfService }) => outOfService !== undefined);
    return isFenced && this.#options.podsOn(node.name).some(({ terminating }) => terminating);
  }

  /**
   * {@link fullFor} of nodes that need a place, at one moment: nodes of the same policies share the answer, which may cost as much as the
   * number of nodes that have a taint.
   */
  askFull(): (name: string) => boolean {
    const known = new Map<string, boolean>();
    return (name) => {
      const key = JSON.stringify(this.#cappedOf(name).map((policy) => policy.name));
      const isFull = known.get(key) ?? this.fullFor(name) !== undefined;
      known.set(key, isFull);
      return isFull;
    };
  }

  /** Records that a node is about to get this taint, and whether it waits for a place. */
  noteTaint(name: string, isHeld: boolean, next?: NextTaint): void {
    const [policy, ...others] = this.#cappedOf(name);
    if (policy === undefined) return;
    if (!isHeld) {
      if (this.#needsPlace(name, next)) this.#candidates.add(name);
    } else if (others.length === 0 && !this.#isHeldRecently(policy))
      this.#heldAtMs.set(policy.name, this.#options.clock.monotonicMs());
  }

  #isHeldRecently({ name }: NodePolicy): boolean {
    return this.#options.clock.monotonicMs() - (this.#heldAtMs.get(name) ?? -Infinity) < heldForMs;
  }

  /** The nodes that are being emptied, of each policy with a maximum. For reports. */
  statuses(): readonly EmptyingStatus[] {
    return this.#capped().map((policy) => {
      this.#refresh();
      const nodes = [...this.#search(policy, undefined)].sort();
      return { policy: policy.name, max: policy.maxConcurrentEvictions, nodes };
    });
  }

  /** The node changed. Ignored until the first question. */
  note(node: NodeView): void {
    if (this.#policies !== undefined && healthTaintsOf(node).length > 0) this.#candidates.add(node.name);
  }

  forget(name: string): void {
    this.#candidates.delete(name);
  }

  /** Number of nodes that may have a taint for their health. */
  get size(): number {
    return this.#candidates.size;
  }

  /** How many other nodes of the policy are being emptied; counted up to the maximum. */
  #others(policy: CappedPolicy, name: string): number {
    this.#refresh();
    const found: string[] = [];
    for (const other of this.#search(policy, name)) {
      found.push(other);
      if (found.length >= policy.maxConcurrentEvictions) break;
    }
    this.#found.set(policy.name, found);
    return found.length;
  }

  /** The nodes of this policy that are being emptied, without `except`: each once. */
  *#search(policy: NodePolicy, except: string | undefined): Iterable<string> {
    const { policies } = this.#options;
    const seen = new Set<string>();
    for (const name of this.#ordered(policy.name)) {
      if (name === except || seen.has(name)) continue;
      seen.add(name);
      const isOfPolicy = policies.claimsOf(name).some((claim) => claim.name === policy.name);
      if (isOfPolicy && this.#isEmptied(name)) yield name;
      else if (!this.#isBeingTainted(name) && !this.#isTainted(name)) this.#candidates.delete(name);
    }
  }

  *#ordered(policy: string): Iterable<string> {
    yield* this.#found.get(policy) ?? [];
    yield* this.#candidates;
    for (const { nodes } of this.#options.beingTainted()) yield* nodes.keys();
  }

  #isBeingTainted(name: string): boolean {
    return this.#options.beingTainted().some(({ nodes }) => nodes.has(name));
  }

  #isTainted(name: string): boolean {
    const node = this.#options.nodes.get(name);
    return node !== undefined && healthTaintsOf(node).length > 0;
  }

  #isEmptied(name: string): boolean {
    const node = this.#options.nodes.get(name);
    if (node === undefined) return false;
    const adding = readyOf(node) === 'True' ? [] : this.#options.beingTainted().filter(({ nodes }) => nodes.has(name));
    return this.#evicts(name, [...healthTaintsOf(node), ...adding.map(({ next }) => taintOf(node, next))]);
  }

  /**
   * Whether the next taint of a node would evict a pod, and no taint that it has does so already. The taint out-of-service needs no other
   * place on a node that had one, also where its pods only terminate: it is what ends them.
   */
  #needsPlace(name: string, next: NextTaint = 'of-status'): boolean {
    const node = this.#options.nodes.get(name);
    if (node === undefined || !this.#evicts(name, [taintOf(node, next)])) return false;
    return !this.#evicts(name, healthTaintsOf(node), next === 'out-of-service');
  }

  /** `evenTerminating`: pods count that terminate already. */
  #evicts(name: string, taints: readonly Taint[], evenTerminating = false): boolean {
    if (taints.length === 0) return false;
    return this.#options.podsOn(name).some((pod) => {
      const stays = (pod.terminating && !evenTerminating) || this.#options.policies.keeperOf(pod) !== undefined;
      return !stays && taints.some((taint) => !toleratesForever(pod.tolerations, taint));
    });
  }

  /** Searches all nodes if the policies changed, and once a minute. Without a maximum everything is dropped. */
  #refresh(): void {
    const { options, clock, names, nodes } = this.#options;
    const { policies } = options.current();
    if (this.#policies === policies && clock.monotonicMs() < this.#searchedAtMs + searchAgainMs) return;
    const isCapped = this.#capped().length > 0;
    this.#policies = isCapped ? policies : undefined;
    this.#searchedAtMs = clock.monotonicMs();
    this.#candidates.clear();
    this.#found.clear();
    this.#heldAtMs.clear();
    if (!isCapped) return;
    for (const name of names()) {
      const node = nodes.get(name);
      if (node !== undefined) this.note(node);
    }
  }

  #capped(): readonly CappedPolicy[] {
    return this.#options.options.current().policies.filter(isCapped);
  }

  /** The policies with a maximum that claim this node: it needs a place in each. */
  #cappedOf(node: string): readonly CappedPolicy[] {
    return this.#options.policies.claimsOf(node).filter(isCapped);
  }
}

function isCapped(policy: NodePolicy): policy is CappedPolicy {
  return policy.maxConcurrentEvictions !== undefined;
}

function healthTaintsOf({ taints }: NodeView): readonly Taint[] {
  return noExecuteTaints(taints).filter(isForHealth);
}

function readyOf({ conditions }: NodeView): string | undefined {
  return findCondition(conditions, 'Ready')?.status;
}

function taintOf(node: NodeView, next: NextTaint = 'of-status'): Taint {
  if (next === 'out-of-service') return outOfService;
  const key: HealthTaintKey = readyOf(node) === 'Unknown' ? taintKeys.unreachable : taintKeys.notReady;
  return { key, effect: 'NoExecute' };
}
