// How long a fault of a node lasts for its workloads: from the last heartbeat to Unknown, to evictions, to pods that replace the evicted
// ones, to the recovery. Follows decisions and pods while leading, and decides nothing.
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import { healthTaintKeys } from '../../machinery/api/taints.ts';
import type { Change } from '../../machinery/informer/informer.ts';
import type { PodSource } from '../model/commands.ts';
import type { Decision } from '../model/decisions.ts';
import type { StageDependencies } from '../model/dependencies.ts';
import { AwaitedReplacements, type Fault } from './awaited-replacements.ts';
import { faultDuration, type FaultStage } from './metrics.ts';

interface RecoveryTimesOptions extends Pick<StageDependencies, 'clock' | 'meter'> {
  readonly pods: Pick<PodSource, 'get'>;
  /** The name of the policy that applies to a node; undefined: none. */
  readonly policyOf: (node: string) => string | undefined;
}

interface OpenFault extends Fault {
  lastEvictionMs: number | undefined;
}

/** The policy label of nodes that no policy claims. */
const byDefault = 'default';

export class RecoveryTimes {
  readonly #options: RecoveryTimesOptions;
  readonly #faults = new Map<string, OpenFault>();
  readonly #replacements: AwaitedReplacements;

  constructor(options: RecoveryTimesOptions) {
    this.#options = options;
    this.#replacements = new AwaitedReplacements((fault) => this.#observe('replacement', fault));
  }

  onDecision(decision: Decision): void {
    if (decision.kind === 'node-silent') this.#becomeUnknown(decision);
    else if (decision.kind === 'node-not-ready') this.#begin(decision.node, this.#nowMs(), 'NotReady');
    else if (isEviction(decision)) this.#evict(decision);
    else if (decision.kind === 'node-ready') this.#end(decision.node, true);
    else if (decision.kind === 'node-removed') this.#end(decision.node, false);
  }

  /** A pod that is new and becomes Ready may replace an evicted one. */
  onPod(change: Change<PodView>): void {
    this.#replacements.observe(change, this.#nowMs());
  }

  /** Number of nodes with a fault. */
  get size(): number {
    return this.#faults.size;
  }

  #becomeUnknown({ node, silentMs, outage }: Extract<Decision, { kind: 'node-silent' }>): void {
    this.#begin(node, this.#nowMs() - silentMs, outage);
    const fault = this.#faults.get(node);
    if (fault !== undefined) this.#observe('unknown', { ...fault, sinceMs: this.#nowMs() - silentMs });
  }

  /** A node that reported that it is not ready, and becomes silent then, has one fault. */
  #begin(node: string, sinceMs: number, cause: string): void {
    if (this.#faults.has(node)) return;
    const policy = this.#options.policyOf(node) ?? byDefault;
    this.#faults.set(node, { sinceMs, cause, policy, lastEvictionMs: undefined });
  }

  #evict({ node, pod }: { readonly node: string; readonly pod: string }): void {
    const fault = this.#faults.get(node);
    if (fault === undefined) return;
    if (fault.lastEvictionMs === undefined) this.#observe('first_eviction', fault);
    fault.lastEvictionMs = this.#nowMs();
    const view = this.#options.pods.get(pod);
    if (view !== undefined && podKey(view) === pod) this.#replacements.await(view, fault, this.#nowMs());
  }

  #end(node: string, isRecovered: boolean): void {
    const fault = this.#faults.get(node);
    if (fault === undefined) return;
    this.#faults.delete(node);
    if (fault.lastEvictionMs !== undefined) this.#observe('last_eviction', fault, fault.lastEvictionMs);
    if (isRecovered) this.#observe('recovery', fault);
  }

  #observe(stage: FaultStage, { sinceMs, cause, policy }: Fault, atMs = this.#nowMs()): void {
    this.#options.meter.observe(faultDuration, (atMs - sinceMs) / 1_000, { stage, cause, policy });
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

type Eviction = Extract<Decision, { readonly kind: 'pod-evicted' | 'pod-evicted-with-node' }>;

/** For the health of the node. */
function isEviction(decision: Decision): decision is Eviction {
  if (decision.kind === 'pod-evicted') return healthTaintKeys.some((key) => decision.taint.startsWith(key));
  return decision.kind === 'pod-evicted-with-node';
}
