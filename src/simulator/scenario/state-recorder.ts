// Records the state of each node and the decisions of the controller over virtual time, for the page of a report.
import type { Node } from '../../machinery/api/node.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import { isHealthTaint } from '../../machinery/api/taints.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import type { StoreChange } from '../../hollow-cluster/apiserver/storage/store-change.ts';
import { classifyLevel } from '../../controller/decision-log/classify-level.ts';
import type { NotedDecision } from '../../controller/decision-log/decision-log.ts';
import { describeDecision } from '../../controller/decision-log/describe-decision.ts';
import type { Decision } from '../../controller/model/decisions.ts';
import type { GroundTruth } from '../../hollow-cluster/kubelet/faults/ground-truth.ts';
import { readyOf } from '../node-fields.ts';
import type { World } from '../world.ts';
import { type LoggedChange, ChangeLog } from './change-log.ts';
import { classifyNode, endsHeartbeats, type RecordedState } from './classify-node.ts';

const changesMax = 100_000;
/** The first decisions, and as many of the last ones. */
const decisionsMax = 2_000;

/** A node from one moment on. */
interface NodeMoment {
  readonly state: RecordedState;
  /** Number of pods bound to it. */
  readonly pods: number;
}

interface RecordedDecision {
  /** Virtual, since the beginning of the scenario. */
  readonly atMs: number;
  readonly kind: Decision['kind'];
  readonly text: string;
  readonly warning: boolean;
  readonly node: string | null;
  readonly pod: string | null;
  readonly zone: string | null;
}

export interface ScenarioRecording {
  /** In the order of the keys of the changes. */
  readonly nodes: readonly { readonly name: string; readonly zone: string }[];
  readonly changes: readonly LoggedChange<NodeMoment>[];
  /** 0: every change is recorded. Otherwise states that lasted for less may be missing. */
  readonly stepMs: number;
  readonly decisions: readonly RecordedDecision[];
  /** Number of decisions between the first and the last ones that were left out. */
  readonly decisionsLeftOut: number;
}

/** Decisions that repeat what the states show. */
const hiddenKinds: ReadonlySet<Decision['kind']> = new Set([
  'node-registered',
  'taint-queued',
  'pod-marked-not-ready',
  'labels-set',
]);

class TrackedNode {
  zone = '';
  exists = false;
  ready = 'missing';
  isTainted = false;
  isMaintained = false;
  pods = 0;
  readonly faults = new Set<string>();
  readonly leavingPods = new Set<string>();

  get isSilent(): boolean {
    return this.faults.size > 0;
  }

  get leaving(): number {
    return this.leavingPods.size;
  }
}

export class StateRecorder {
  readonly #nodes = new Map<string, TrackedNode>();
  readonly #keys = new Map<string, number>();
  readonly #shown = new Map<string, string>();
  readonly #log = new ChangeLog<NodeMoment>(changesMax);
  readonly #first: RecordedDecision[] = [];
  readonly #last: RecordedDecision[] = [];
  #leftOut = 0;
  #world: World | undefined;
  #startMs = Number.POSITIVE_INFINITY;

  /** From the beginning of the world. */
  attach(world: World): void {
    this.#world = world;
    world.storage.onCommit((resource, change) => {
      if (resource === 'nodes') this.#onNode(world, change);
      if (resource === 'pods') this.#onPod(world, change);
    });
  }

  /** The scenario begins now. `zoneOf`: the zone in which the controller counts a node. */
  begin(zoneOf: (node: string) => string): void {
    this.#startMs = this.#world?.timeline.nowMs ?? 0;
    for (const [name, node] of this.#nodes) {
      node.zone = zoneOf(name) || 'no zone';
      this.#show(name);
    }
  }

  onGroundTruth({ node, fault, kind, change }: GroundTruth): void {
    if (!endsHeartbeats.has(kind)) return;
    const { faults } = this.#tracked(node);
    // A node that flaps is connected at first.
    const isUp = change === 'end' || change === 'up' || (change === 'begin' && kind === 'flap');
    if (isUp) faults.delete(fault);
    else faults.add(fault);
    this.#show(node);
  }

  onDecision({ decision }: NotedDecision): void {
    this.#follow(decision);
    const atMs = this.#nowMs();
    if (atMs < 0 || hiddenKinds.has(decision.kind)) return;
    const recorded = {
      atMs,
      kind: decision.kind,
      text: describeDecision(decision),
      warning: classifyLevel(decision) === 'warn',
      ...subjectsOf(decision),
    };
    if (this.#first.length < decisionsMax) return void this.#first.push(recorded);
    this.#last.push(recorded);
    if (this.#last.length < decisionsMax * 2) return;
    this.#leftOut += decisionsMax;
    this.#last.splice(0, decisionsMax);
  }

  recording(): ScenarioRecording {
    const surplus = Math.max(0, this.#last.length - decisionsMax);
    const { changes, stepMs } = this.#log;
    return {
      nodes: [...this.#keys.keys()].map((name) => ({ name, zone: this.#tracked(name).zone })),
      changes,
      stepMs,
      decisions: [...this.#first, ...this.#last.slice(surplus)],
      decisionsLeftOut: this.#leftOut + surplus,
    };
  }

  #onNode(world: World, change: StoreChange): void {
    const { name } = change.object;
    const tracked = this.#tracked(name);
    const node: Node = world.storage.decode('nodes', change.object);
    tracked.exists = change.kind !== 'deleted';
    tracked.ready = readyOf(node);
    tracked.isTainted = (node.spec?.taints ?? []).some((taint) => taint.effect === 'NoExecute' && isHealthTaint(taint));
    if (!tracked.isTainted) tracked.leavingPods.clear();
    this.#show(name);
  }

  #onPod(world: World, change: StoreChange): void {
    const nodeOf = (stored: StoreChange['object'] | undefined): string => {
      if (stored === undefined) return '';
      const pod: Pod = world.storage.decode('pods', stored);
      return pod.spec?.nodeName ?? '';
    };
    const was = nodeOf(change.previous);
    const is = change.kind === 'deleted' ? '' : nodeOf(change.object);
    if (change.kind === 'deleted') this.#noteLeft(was, objectKey(change.object.namespace, change.object.name));
    if (was === is) return;
    this.#count(was, -1);
    this.#count(is, 1);
  }

  #count(name: string, by: number): void {
    if (name === '') return;
    this.#tracked(name).pods += by;
    this.#show(name);
  }

  #noteLeft(name: string, pod: string): void {
    this.#nodes.get(name)?.leavingPods.delete(pod);
  }

  /** Applies a decision, which adds to the state of the API. */
  #follow(decision: Decision): void {
    const { kind } = decision;
    if (kind === 'eviction-scheduled') this.#tracked(decision.node).leavingPods.add(decision.pod);
    else if (kind === 'eviction-cancelled' || kind === 'pod-evicted') this.#noteLeft(decision.node, decision.pod);
    else if (kind === 'maintenance-began' || kind === 'maintenance-ended')
      this.#tracked(decision.node).isMaintained = kind === 'maintenance-began';
    else return;
    this.#show(decision.node);
  }

  #show(name: string): void {
    const atMs = this.#nowMs();
    if (atMs < 0) return;
    const node = this.#tracked(name);
    const value = { state: classifyNode(node), pods: node.pods };
    const text = `${value.state} ${value.pods}`;
    if (this.#shown.get(name) === text) return;
    this.#shown.set(name, text);
    this.#log.add({ atMs, key: this.#keyOf(name), value });
  }

  #keyOf(name: string): number {
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    this.#keys.set(name, this.#keys.size);
    return this.#keys.size - 1;
  }

  #tracked(name: string): TrackedNode {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const node = new TrackedNode();
    this.#nodes.set(name, node);
    return node;
  }

  /** Negative before the beginning. */
  #nowMs(): number {
    const nowMs = this.#world?.timeline.nowMs ?? 0;
    return nowMs < this.#startMs ? -1 : nowMs - this.#startMs;
  }
}

function subjectsOf(decision: Decision): Pick<RecordedDecision, 'node' | 'pod' | 'zone'> {
  return {
    node: 'node' in decision ? decision.node : null,
    pod: 'pod' in decision ? decision.pod : null,
    zone: 'zone' in decision ? decision.zone : null,
  };
}
