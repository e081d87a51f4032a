import { ownValue, setOwn } from '../../machinery/api/json-map.ts';
import type { Node } from '../../machinery/api/node.ts';
import { isHealthTaint } from '../../machinery/api/taints.ts';
import type { StoreChange } from '../../hollow-cluster/apiserver/storage/store-change.ts';
import type { NotedDecision } from '../../controller/decision-log/decision-log.ts';
import type { GroundTruth } from '../../hollow-cluster/kubelet/faults/ground-truth.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import { readyOf, zoneNameOf } from '../node-fields.ts';
import { isWrite, type RequestLine } from '../network/network.ts';
import type { Requester } from '../server/storage.ts';
import type { World } from '../world.ts';
import { endsHeartbeats } from './classify-node.ts';
import type { Interval, NodeOutcome, ZoneState } from './scenario-result.ts';

/** A node that was silent up to this long ago may still be marked. */
const lateMarkMsMax = 5_000;
const minuteMs = 60_000;

/** Notes what happens to each node, from commits, ground truth, decisions and requests. */
export class ScenarioObserver {
  readonly zoneStates: ZoneState[] = [];
  readonly requests = new Map<string, number>();
  readonly intervals: Interval[] = [];
  /** Number of recoveries after which a flapping node was kept from new pods. */
  flappingKept = 0;
  /** The most pods that were deleted within any minute. */
  deletedWithinMinuteMax = 0;
  readonly #world: World;
  readonly #intervalMs: number;
  /** The last episode of each node. */
  readonly #current = new Map<string, NodeOutcome>();
  readonly #outcomes: NodeOutcome[] = [];
  readonly #faults = new Map<string, number>();
  readonly #notReady = new Map<string, string>();
  /** Times of the deletions of the last minute. */
  readonly #lastDeletions: number[] = [];
  #startMs = Number.POSITIVE_INFINITY;

  constructor(world: World, intervalMs: number) {
    this.#world = world;
    this.#intervalMs = intervalMs;
    world.storage.onCommit((resource, change, by) => {
      if (resource === 'nodes') this.#onNode(change);
      if (resource === 'pods') this.#onPod(change, by);
    });
  }

  /** The scenario begins now: nothing before is part of the result. */
  begin(): void {
    this.#startMs = this.#world.timeline.nowMs;
    this.requests.clear();
    this.zoneStates.length = 0;
    this.#interval();
  }

  /** Outcomes of nodes: an episode begins with a fault, and the next one after the node was ready again. */
  outcomes(): readonly NodeOutcome[] {
    return this.#outcomes.toSorted((a, b) => firstMs(a) - firstMs(b) || (a.node < b.node ? -1 : 1));
  }

  onGroundTruth({ node, kind, change }: GroundTruth): void {
    if (!endsHeartbeats.has(kind)) return;
    const active = this.#faults.get(node) ?? 0;
    const outcome = change === 'begin' ? this.#newEpisode(node) : this.#outcome(node);
    if (change === 'begin') {
      this.#faults.set(node, active + 1);
      if (outcome.notReadyAtMs === undefined) outcome.faultAtMs = this.#nowMs();
      delete outcome.faultEndMs;
    }
    if (change === 'end') {
      this.#faults.set(node, Math.max(0, active - 1));
      if (active <= 1) outcome.faultEndMs = this.#nowMs();
    }
  }

  /** The machine of this node fails. */
  noteMachineFailure(node: string): void {
    this.#outcome(node).machineFailed = true;
  }

  onDecision({ decision }: NotedDecision): void {
    if (!this.#hasBegun()) return;
    if (decision.kind === 'flapping-kept') this.flappingKept += 1;
    if (decision.kind !== 'zone-changed') return;
    const { zone, to, ratePerSecond } = decision;
    this.zoneStates.push({ atMs: this.#nowMs(), zone: zone || 'no zone', state: to, nodesPerSecond: ratePerSecond });
  }

  onSent(line: RequestLine): void {
    if (!this.#hasBegun()) return;
    const key = `${line.verb} ${line.resource}`;
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1);
    const interval = this.#interval();
    interval.requests += 1;
    if (isWrite(line)) interval.writes += 1;
  }

  #onNode(change: StoreChange): void {
    if (change.kind === 'deleted' || change.previous === undefined) return;
    const { storage } = this.#world;
    const before: Node = storage.decode('nodes', change.previous);
    const after: Node = storage.decode('nodes', change.object);
    const { name } = change.object;
    const [was, is] = [readyOf(before), readyOf(after)];
    if (is === 'True') this.#notReady.delete(name);
    else this.#notReady.set(name, zoneNameOf(after));
    if (!this.#hasBegun()) return;
    if (was !== is) this.#onReady(name, is);
    this.#onTaints(name, before, after);
    this.#interval();
  }

  #onReady(name: string, ready: string): void {
    const outcome = this.#outcome(name);
    if (ready === 'True') {
      outcome.readyAtMs = this.#nowMs();
      return;
    }
    outcome.notReadyAtMs ??= this.#nowMs();
    delete outcome.readyAtMs;
    if (ready === 'Unknown' && !this.#isFaulty(outcome)) outcome.isFalse = true;
  }

  #isFaulty({ node, faultEndMs }: NodeOutcome): boolean {
    return (this.#faults.get(node) ?? 0) > 0 || this.#nowMs() - (faultEndMs ?? -Infinity) <= lateMarkMsMax;
  }

  #onTaints(name: string, before: Node, after: Node): void {
    const [had, has] = [healthEffects(before), healthEffects(after)];
    if (had.size === 0 && has.size === 0) return;
    const outcome = this.#outcome(name);
    if (has.has('NoSchedule') && !had.has('NoSchedule')) outcome.noScheduleAtMs ??= this.#nowMs();
    if (has.has('NoExecute') && !had.has('NoExecute')) {
      outcome.noExecuteAtMs ??= this.#nowMs();
      this.#interval().noExecute += 1;
    }
    if (has.size === 0) outcome.cleanAtMs = this.#nowMs();
    else delete outcome.cleanAtMs;
  }

  #onPod(change: StoreChange, by: Requester): void {
    if (!this.#hasBegun() || change.previous === undefined || !by.process.startsWith('replica-')) return;
    const before: Pod = this.#world.storage.decode('pods', change.previous);
    const after: Pod = this.#world.storage.decode('pods', change.object);
    const isDeletion = change.kind === 'deleted' || after.metadata.deletionTimestamp !== undefined;
    if (!isDeletion || before.metadata.deletionTimestamp !== undefined) return;
    const outcome = this.#outcome(before.spec?.nodeName ?? '');
    outcome.podsDeleted += 1;
    outcome.firstDeletionAtMs ??= this.#nowMs();
    outcome.lastDeletionAtMs = this.#nowMs();
    this.#interval().deletions += 1;
    this.#countWithinMinute();
  }

  #countWithinMinute(): void {
    const nowMs = this.#nowMs();
    this.#lastDeletions.push(nowMs);
    const first = this.#lastDeletions.findIndex((atMs) => atMs > nowMs - minuteMs);
    if (first > 0) this.#lastDeletions.splice(0, first);
    this.deletedWithinMinuteMax = Math.max(this.deletedWithinMinuteMax, this.#lastDeletions.length);
  }

  #outcome(node: string): NodeOutcome {
    return this.#current.get(node) ?? this.#begin(node);
  }

  #newEpisode(node: string): NodeOutcome {
    const current = this.#current.get(node);
    return current?.readyAtMs === undefined ? this.#outcome(node) : this.#begin(node);
  }

  #begin(node: string): NodeOutcome {
    const stored: Node | undefined = this.#world.storage.get('nodes', { name: node });
    const outcome: NodeOutcome = {
      node,
      zone: stored === undefined ? '' : zoneNameOf(stored),
      machineFailed: false,
      podsDeleted: 0,
      isFalse: false,
    };
    this.#current.set(node, outcome);
    this.#outcomes.push(outcome);
    return outcome;
  }

  /** The current interval; those before it that are missing had no event. */
  #interval(): Interval {
    const index = Math.floor(this.#nowMs() / this.#intervalMs);
    const notReady: Record<string, number> = {};
    for (const zone of this.#notReady.values()) setOwn(notReady, zone, (ownValue(notReady, zone) ?? 0) + 1);
    while (this.intervals.length <= index) {
      const before = this.intervals.at(-1)?.notReady ?? {};
      const atMs = this.intervals.length * this.#intervalMs;
      this.intervals.push({ atMs, notReady: { ...before }, noExecute: 0, deletions: 0, requests: 0, writes: 0 });
    }
    const current = this.intervals[index];
    if (current === undefined) throw new RangeError(`no interval ${index}`);
    return Object.assign(current, { notReady });
  }

  /** Completes the series up to the end. */
  end(): void {
    this.#interval();
  }

  #hasBegun(): boolean {
    return this.#world.timeline.nowMs >= this.#startMs;
  }

  #nowMs(): number {
    return Math.max(0, this.#world.timeline.nowMs - this.#startMs);
  }
}

function firstMs({ faultAtMs, notReadyAtMs }: NodeOutcome): number {
  return Math.min(faultAtMs ?? Infinity, notReadyAtMs ?? Infinity);
}

function healthEffects(node: Node): ReadonlySet<string> {
  const taints = (node.spec?.taints ?? []).filter(isHealthTaint);
  return new Set(taints.map(({ effect }) => effect));
}
