// The state of one node for the dashboard, from current state.
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import { outerZoneOf, zoneName } from '../../machinery/api/zone.ts';
import type { NodeCell, NodeState } from '../protocol.ts';
import { classifyNodeState, type NodeStateEvidence } from '../../controller/report/classify-node-state.ts';
import { steadyTime } from './steady-time.ts';
import { readyOf } from '../../controller/health/assess-node.ts';
import { describeHoldKind } from '../../controller/holds/decide-holds.ts';
import type { Act } from '../../controller/model/holds.ts';
import type { Maintenance, NodeHold } from '../../controller/model/policy.ts';
import type { WaitingPod } from '../../controller/model/waiting-pods.ts';
import { podsByNode } from '../../controller/taint-eviction/taint-evictor.ts';
import { decideNoExecuteNeed, healthTaintsOf } from '../../controller/tainting/decide-taints.ts';
import { buildNextStep, type NextStep } from './build-next-step.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import type { ClusterEvidence } from './cluster-evidence.ts';
import { type LeavingPods, selectLeavingPods } from '../../controller/report/select-leaving-pods.ts';
import { toMonotonicMs } from '../../controller/report/report-sources.ts';

export interface NodeRecord {
  readonly uid: string;
  readonly cell: NodeCell;
  /** The last heartbeat of the node is older than its grace period. */
  readonly isSilent: boolean;
  /** Ready, and not silent. */
  readonly isHealthy: boolean;
  /** Monotonic time at which the state changes at the latest; undefined: not by time alone. */
  readonly endsAtMs: number | undefined;
}

interface NodeEvidence extends NodeStateEvidence, LeavingPods {
  readonly node: NodeView;
  readonly zone: string;
  readonly policy: string | null;
  readonly pods: number;
  readonly hold: NodeHold | undefined;
  readonly maintenance: Maintenance | undefined;
}

export class DashboardNodes {
  readonly #sources: DashboardSources;

  constructor(sources: DashboardSources) {
    this.#sources = sources;
  }

  /** Undefined: the node does not exist. `previous`: as it was computed last. */
  read(name: string, around: ClusterEvidence, previous: NodeRecord | undefined): NodeRecord | undefined {
    const node = this.#sources.informers.nodes.store.get(name);
    if (node === undefined) return undefined;
    const evidence = this.#evidenceOf(node, around);
    const state = classifyNodeState(evidence);
    const known = previous?.uid === node.uid ? previous.cell : undefined;
    const { zone, policy, pods } = evidence;
    const held = state === 'ready' ? null : this.#heldOf(state, evidence);
    const next = this.#nextOf(state, evidence, { around, isHeld: held !== null });
    const cell = {
      name,
      zone: zoneName(zone),
      policy,
      state,
      since: sinceOf(state, evidence) ?? (known?.state === state ? known.since : formatTime(around.now.wallMs)),
      pods,
      held,
      next: next === undefined ? null : { what: next.what, at: steadyAt(next, known, around.now.wallMs) },
    };
    return {
      uid: node.uid,
      cell,
      isSilent: evidence.isSilent,
      isHealthy: evidence.ready === 'True' && !evidence.isSilent,
      endsAtMs: endOf(evidence, around),
    };
  }

  #evidenceOf(node: NodeView, around: ClusterEvidence): NodeEvidence {
    const { stages, informers } = this.#sources;
    const { name } = node;
    const pods = informers.pods.store.byIndex(podsByNode, name);
    const selection = stages.policies.selectionOf(name);
    const hold = stages.policies.modeOf(name);
    const maintenance = stages.policies.maintenanceOf(name);
    const isTainted = healthTaintsOf(node.taints).length > 0;
    const healthNow = { monotonicMs: around.healthNowMs, wallMs: around.now.wallMs };
    return {
      node,
      zone: stages.policies.zoneOf(node),
      policy: selection.kind === 'policy' ? selection.policy.name : null,
      pods: pods.length,
      ready: readyOf(node),
      isSilent: stages.health.evaluate(node, healthNow).kind !== 'alive',
      isTainted,
      ...selectLeavingPods(node, pods, this.#sources.stages),
      hold,
      isPaused: hold?.mode === 'Paused' && hold.source.kind !== 'config-file',
      maintenance,
      isMaintained: maintenance !== undefined,
    };
  }

  /** Reason why nothing further happens to a node now: the first hold of the next act, or why the pod that is due first waits. */
  #heldOf(state: NodeState, { node, first }: NodeEvidence): string | null {
    const { holds, evictor, podEvictor } = this.#sources.stages;
    const [hold] = holds.of(node.name, nextActOf(state, podEvictor === undefined));
    if (hold !== undefined) return describeHoldKind(hold.kind, holds.evidenceOf(node.name));
    return describeWait(first && evictor.waitingPod(first.pod));
  }

  #nextOf(
    state: NodeState,
    evidence: NodeEvidence,
    { around, isHeld }: { readonly around: ClusterEvidence; readonly isHeld: boolean },
  ): NextStep | undefined {
    const { node, ready, first } = evidence;
    const { now, leading, runs } = around;
    const need = decideNoExecuteNeed(ready, node.taints);
    return buildNextStep(state, {
      now,
      ready,
      isHeld,
      acts: { taints: leading && runs.nodeLifecycle, evicts: leading && runs.taintEviction },
      mode: this.#sources.stages.podEvictor === undefined ? 'taint' : 'eviction',
      missingKey: need.need === 'add' ? need.key : undefined,
      slotAtMs: this.#slotAtMs(evidence, around),
      first,
      endsAtWallMs: endOfWallMs(evidence),
    });
  }

  /**
   * Time at which the queue serves a node; undefined: not queued, or not known because other zones take tokens of the
   * same outer zone.
   */
  #slotAtMs({ node, zone }: NodeEvidence, around: ClusterEvidence): number | undefined {
    const { stages } = this.#sources;
    const ahead = around.leading ? around.ahead(zone, node.name) : undefined;
    if (ahead === undefined) return this.#timeoutAtMs(node.name);
    const queue = stages.queues.get(zone);
    if (queue === undefined || queue.ratePerSecond <= 0 || outerZoneOf(zone) !== undefined) return undefined;
    return queue.nextTokenAtMs(around.now.monotonicMs) + (ahead * 1_000) / queue.ratePerSecond;
  }

  /** Eviction mode: when its timeout ends, which it waits for. */
  #timeoutAtMs(node: string): number | undefined {
    const dueMs = this.#sources.stages.podEvictor?.dueAtMs(node);
    return dueMs === undefined ? undefined : toMonotonicMs(dueMs, this.#sources);
  }
}

/** What is done for a node of this state next, if nothing holds it. */
function nextActOf(state: NodeState, isTaintMode: boolean): Act {
  if (state === 'suspect') return 'mark-unknown';
  if (state === 'tainted' || state === 'emptying') return 'delete-for-health';
  return isTaintMode ? 'add-no-execute' : 'empty-node';
}

function describeWait(wait: WaitingPod | undefined): string | null {
  if (wait === undefined) return null;
  const { policy, reason } = wait;
  return reason === 'rate'
    ? `its pod waits for a token of policy ${policy}`
    : `the Eviction API does not evict its pod (${reason})`;
}

/** When the state began, where the API shows it. */
function sinceOf(state: NodeState, evidence: NodeEvidence): string | undefined {
  const atMs = beganAtMs(state, evidence);
  return atMs === undefined ? undefined : formatTime(atMs);
}

function beganAtMs(state: NodeState, { node, maintenance, ready }: NodeEvidence): number | undefined {
  switch (state) {
    case 'ready':
    case 'not-ready':
    case 'unreachable':
      return readySinceMs(node, ready);
    case 'tainted':
    case 'emptying':
      return earliest(healthTaintsOf(node.taints).map(({ timeAdded }) => timeAdded));
    case 'maintenance':
      return signalledSinceMs(maintenance);
    case 'suspect':
    case 'paused':
      return undefined;
  }
}

function signalledSinceMs(maintenance: Maintenance | undefined): number | undefined {
  return maintenance && earliest(maintenance.signals.map(({ at }) => at));
}

/** A node without a Ready condition has been so since its creation. */
function readySinceMs(node: NodeView, ready: string): number | undefined {
  if (ready === 'missing') return node.createdAtMs === 0 ? undefined : node.createdAtMs;
  return parseTimestamp(findCondition(node.conditions, 'Ready')?.lastTransitionTime);
}

function earliest(texts: readonly (string | undefined)[]): number | undefined {
  const times = texts.flatMap((text) => parseTimestamp(text) ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The wall time at which its pause or maintenance ends; undefined: none, or no end is known. */
function endOfWallMs({ isPaused, hold, maintenance }: NodeEvidence): number | undefined {
  const untilMs = isPaused ? hold?.untilMs : maintenance?.untilMs;
  return untilMs !== undefined && Number.isFinite(untilMs) ? untilMs : undefined;
}

/** A hold that is not shown as a state may end by time too. */
function endOf(evidence: NodeEvidence, { now }: ClusterEvidence): number | undefined {
  const ends = [evidence.hold?.untilMs, evidence.maintenance?.untilMs].flatMap((untilMs) => untilMs ?? []);
  const firstMs = Math.min(...ends.filter((untilMs) => untilMs >= now.wallMs));
  return Number.isFinite(firstMs) ? now.monotonicMs + firstMs - now.wallMs : undefined;
}

function steadyAt({ what, atWallMs }: NextStep, known: NodeCell | undefined, nowMs: number): string | null {
  if (atWallMs === undefined) return null;
  return steadyTime(known?.next?.what === what ? known.next.at : null, atWallMs, nowMs);
}
