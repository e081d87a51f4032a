// Checks every commit of the controller against the state that it changed.
import type { Lease } from '../../../src/machinery/api/lease.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import {
  flappingTaintKey,
  hasTaint,
  healthTaintKeys,
  isHealthTaint,
  type Taint,
  taintKeys,
} from '../../../src/machinery/api/taints.ts';
import { sameJson } from '../../../src/machinery/api/json-values.ts';
import { parseTimestamp } from '../../../src/machinery/api/timestamps.ts';
import { tolerates } from '../../../src/machinery/api/tolerations.ts';
import type { StoreChange } from '../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import { readyOf } from '../../../src/simulator/node-fields.ts';
import { countedZoneOf, highestRateOf, levelsOf } from '../policy-zones.ts';
import type { Requester } from '../../../src/simulator/server/storage.ts';
import type { World } from '../../../src/simulator/world.ts';
import type { Heartbeats } from './heartbeats.ts';
import { isOwnOutOfService } from './out-of-service-checker.ts';
import { ShortestGraces } from './shortest-graces.ts';
import type { Report } from './violation.ts';

/** Time for which a node's taints are remembered after they were removed. */
const memoryMs = 600_000;
const secondMs = 1_000;

interface TaintSpan {
  readonly taint: Taint;
  readonly fromMs: number;
  untilMs: number;
}

const ownKeys: ReadonlySet<string> = new Set([...Object.values(taintKeys), flappingTaintKey]);

/** The node is Ready and renews its lease for so long: its pods are not deleted for its health. Holds have a maximum. */
const healthyMsMinDefault = 90_000;
const healthyMsMinInDrill = 25_000;
const healthyMsMax = 200_000;
/** After a restore of etcd an earlier state may be the latest one, under a version that was used before. */
const restoredMs = 300_000;

interface WriteCheckerOptions {
  readonly latenessMs: number;
  readonly heartbeats: Heartbeats;
}

export class WriteChecker {
  readonly #world: World;
  readonly #report: Report;
  /** The NoExecute taints of each node, past ones included. */
  readonly #spans = new Map<string, TaintSpan[]>();
  /** Times at which this controller added NoExecute taints, by zone. */
  readonly #added = new Map<string, number[]>();
  /** When the last ready node of the cluster was lost; undefined while there is one. */
  #noneReadySinceMs: number | undefined;
  /** Maximum age of a state that justified a write: messages and processes may be late. */
  #latenessMs: number;
  #healthyMsMin = healthyMsMinDefault;
  readonly #heartbeats: Heartbeats;
  /** When each node that was deleted came back; Infinity until then. */
  readonly #absentUntilMs = new Map<string, number>();
  /** Since when each node is Ready, where it is. */
  readonly #readySince = new Map<string, number>();
  /** The last time in which each node was not Ready. */
  /** The last two times in which each node was not Ready: a replica may not know yet that the earlier one is over. */
  readonly #unready = new Map<string, readonly { readonly fromMs: number; toMs: number }[]>();
  /** Since when each replica is the holder of the lease, and how far its wall clock was ahead at most in its renewals since. */
  readonly #leadsSince = new Map<string, { readonly atMs: number; readonly aheadMs: number }>();
  readonly #graces: ShortestGraces;
  /** By uid: earlier versions of a pod whose tolerations users changed since, each until when it was the latest. */
  readonly #earlier = new Map<string, readonly { readonly untilMs: number; readonly pod: Pod }[]>();
  /** By uid: when the pod was created. */
  readonly #created = new Map<string, number>();
  /** NoExecute taints and pod deletions of this controller so far. */
  readonly counts = { taints: 0, deletions: 0 };

  constructor(world: World, report: Report, { latenessMs, heartbeats }: WriteCheckerOptions) {
    this.#world = world;
    this.#heartbeats = heartbeats;
    this.#report = report;
    this.#latenessMs = latenessMs;
    this.#graces = new ShortestGraces(world);
    world.storage.onCommit((resource, change, by) => this.#onCommit(resource, change, by));
    world.storage.onRestore(() => this.#onRestore());
  }

  /** From now on a state justifies a write for this time only, and the pods of a healthy node stay. */
  beginDrill(latenessMs: number): void {
    this.#latenessMs = latenessMs;
    this.#healthyMsMin = healthyMsMinInDrill;
  }

  #onCommit(resource: string, change: StoreChange, by: Requester): void {
    const isController = by.process.startsWith('replica-');
    if (resource === 'leases' && by.client === 'election') this.#noteLeader(change, by.process);
    if (resource === 'nodes') this.#onNode(change, isController);
    if (resource === 'pods') this.#noteCreation(change);
    if (resource === 'pods' && by.process === 'user') this.#noteTolerations(change);
    if (resource === 'pods' && isController) this.#onPod(change, by.process);
  }

  #onRestore(): void {
    const nodes = new Map(this.#world.storage.list('nodes').map((node: Node) => [node.metadata.name ?? '', node]));
    for (const name of new Set([...this.#spans.keys(), ...nodes.keys()])) this.#note(name, nodes.get(name));
  }

  #note(name: string, node: Node | undefined): void {
    this.#noteAbsence(name, node);
    this.#noteTaints(name, node);
    this.#noteReady(name, node);
    this.#noteReadiness();
  }

  #onNode(change: StoreChange, isController: boolean): void {
    const { storage } = this.#world;
    const before: Node | undefined = change.previous && storage.decode('nodes', change.previous);
    const after: Node | undefined = change.kind === 'deleted' ? undefined : storage.decode('nodes', change.object);
    const { name } = change.object;
    if (isController && before !== undefined && after !== undefined) this.#checkNodeWrite(name, before, after);
    this.#note(name, after);
  }

  #checkNodeWrite(name: string, before: Node, after: Node): void {
    if (!this.#world.config.controllers.nodeLifecycle)
      this.#report('mode-is-kept', name, 'was written, and this controller only evicts');
    const foreign = (node: Node): string =>
      JSON.stringify((node.spec?.taints ?? []).filter((taint) => !ownKeys.has(taint.key) && !isOwnOutOfService(taint)));
    if (foreign(before) !== foreign(after)) {
      this.#report('foreign-taint-kept', name, `${foreign(before)} became ${foreign(after)}`);
    }
    this.#checkCondition(name, before, after);
    const keys = healthTaintsIn(after);
    const added = keys.filter((key) => !healthTaintsIn(before).includes(key));
    if (keys.length > 1 && added.length > 0) this.#report('one-health-taint', name, keys.join(' and '));
    if (added.length > 0 && healthTaintsIn(before).length === 0) this.#onNoExecute(name, after);
  }

  /**
   * Each write contains the version that was evaluated, so it follows from the state that it changes: a health taint from
   * the Ready condition. Unknown follows from a silence.
   */
  #checkCondition(name: string, before: Node, after: Node): void {
    const { timeline, restoredAtMs } = this.#world;
    if (timeline.nowMs - restoredAtMs < restoredMs) return;
    const ready = readyOf(before);
    const key = { False: taintKeys.notReady, Unknown: taintKeys.unreachable }[ready];
    const wrong = (after.spec?.taints ?? []).find(
      (taint) =>
        isHealthTaint(taint) && taint.key !== key && !hasTaint(before.spec?.taints ?? [], taint.key, taint.effect),
    );
    if (wrong !== undefined)
      this.#report('taint-has-reason', name, `${wrong.key}:${wrong.effect} was added to a node with Ready=${ready}`);
    if (ready === 'Unknown' || readyOf(after) !== 'Unknown' || !this.#leasesAreReadable) return;
    const silentMs = this.#heartbeats.longestSilenceMs(name, timeline.nowMs - this.#latenessMs);
    if (silentMs < this.#graces.of(name) - 2 * secondMs)
      this.#report('unknown-has-reason', name, `was silent for ${Math.round(silentMs / secondMs)} s at most`);
  }

  /** A lease that cannot be decoded is not evidence of a heartbeat. */
  get #leasesAreReadable(): boolean {
    const { timeline, undecodableLeasesUntilMs } = this.#world;
    return timeline.nowMs - undecodableLeasesUntilMs > this.#latenessMs;
  }

  #noteAbsence(name: string, node: Node | undefined): void {
    if (node === undefined) this.#absentUntilMs.set(name, Infinity);
    else if (this.#absentUntilMs.get(name) === Infinity) this.#absentUntilMs.set(name, this.#world.timeline.nowMs);
  }

  #noteReady(name: string, node: Node | undefined): void {
    const { nowMs } = this.#world.timeline;
    const unready = this.#unready.get(name) ?? [];
    const last = unready.at(-1);
    if (node === undefined || readyOf(node) !== 'True') {
      if (last?.toMs !== Infinity) this.#unready.set(name, [...unready.slice(-1), { fromMs: nowMs, toMs: Infinity }]);
    } else if (last?.toMs === Infinity) last.toMs = nowMs;
    if (node === undefined || readyOf(node) !== 'True') this.#readySince.delete(name);
    else if (!this.#readySince.has(name)) this.#readySince.set(name, this.#world.timeline.nowMs);
  }

  #noteCreation({ kind, object }: StoreChange): void {
    if (kind === 'added') this.#created.set(object.uid, this.#world.timeline.nowMs);
    if (kind !== 'deleted') return;
    this.#created.delete(object.uid);
    this.#earlier.delete(object.uid);
  }

  /** A replica may not know the latest tolerations of a pod yet. */
  #noteTolerations({ kind, object, previous }: StoreChange): void {
    if (kind === 'deleted' || previous === undefined) return;
    const { storage, timeline } = this.#world;
    const pod: Pod = storage.decode('pods', previous);
    const after: Pod = storage.decode('pods', object);
    if (sameJson(pod.spec?.tolerations ?? [], after.spec?.tolerations ?? [])) return;
    const known = this.#earlier.get(object.uid) ?? [];
    this.#earlier.set(object.uid, [...known, { untilMs: timeline.nowMs, pod }]);
  }

  /** The pod as it is, and as a replica may have it. */
  #versionsOf(pod: Pod): readonly Pod[] {
    const sinceMs = this.#world.timeline.nowMs - this.#latenessMs;
    const earlier = this.#earlier.get(pod.metadata.uid ?? '') ?? [];
    return [pod, ...earlier.filter(({ untilMs }) => untilMs > sinceMs).map((version) => version.pod)];
  }

  #onNoExecute(name: string, node: Node): void {
    const { timeline, settings, config } = this.#world;
    if (!config.taintBasedEvictions) this.#report('mode-is-kept', name, 'got a NoExecute taint in eviction mode');
    this.counts.taints += 1;
    for (const zone of levelsOf(countedZoneOf(node, config.policies))) {
      const times = this.#added.get(zone) ?? [];
      this.#added.set(zone, times);
      times.push(timeline.nowMs);
      this.#checkRate(zone, times, highestRateOf(zone, settings));
    }
    const sinceMs = this.#noneReadySinceMs;
    if (sinceMs !== undefined && timeline.nowMs - sinceMs > this.#latenessMs) {
      this.#report('none-in-full-disruption', name, `no node is ready since ${Math.round(sinceMs / secondMs)} s`);
    }
  }

  /** Every new leader may begin with a burst of one token, and a change of zones moves a node to another queue. */
  #checkRate(zone: string, times: readonly number[], rateMax: number): void {
    const last = times.at(-1) ?? 0;
    for (const [index, firstMs] of times.entries()) {
      const count = times.length - index;
      const windowMs = last - firstMs + this.#latenessMs;
      if (count > (windowMs / secondMs) * rateMax + 3) {
        this.#report(
          'taint-rate',
          `zone ${zone}`,
          `${count} NoExecute taints within ${Math.round(windowMs / secondMs)} s at ${rateMax}/s`,
        );
        return;
      }
    }
  }

  #noteTaints(name: string, node: Node | undefined): void {
    const { nowMs } = this.#world.timeline;
    const current = (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
    const spans = (this.#spans.get(name) ?? []).filter(({ untilMs }) => untilMs > nowMs - memoryMs);
    for (const span of spans) {
      const isCurrent = current.some(({ key }) => key === span.taint.key);
      if (!isCurrent && span.untilMs === Infinity) span.untilMs = nowMs;
    }
    for (const taint of current) {
      const isKnown = spans.some((span) => span.taint.key === taint.key && span.untilMs === Infinity);
      if (!isKnown) spans.push({ taint, fromMs: nowMs, untilMs: Infinity });
    }
    this.#spans.set(name, spans);
  }

  #noteReadiness(): void {
    const { storage, timeline } = this.#world;
    const isReady = storage.list('nodes').some((node: Node) => readyOf(node) === 'True');
    if (isReady) this.#noneReadySinceMs = undefined;
    else this.#noneReadySinceMs ??= timeline.nowMs;
  }

  #noteLeader({ object, previous }: StoreChange, process: string): void {
    const holderOf = (lease: Lease | undefined): string => lease?.spec?.holderIdentity ?? '';
    const { storage, timeline } = this.#world;
    const before: Lease | undefined = previous && storage.decode('leases', previous);
    const after: Lease = storage.decode('leases', object);
    const aheadMs = (this.#world.machines.get(process)?.wallMs() ?? NaN) - timeline.nowMs;
    const known = holderOf(before) === holderOf(after) ? this.#leadsSince.get(process) : undefined;
    const { atMs } = known ?? { atMs: timeline.nowMs };
    this.#leadsSince.set(process, { atMs, aheadMs: Math.max(aheadMs, known?.aheadMs ?? -Infinity) });
  }

  #onPod(change: StoreChange, process: string): void {
    const { storage } = this.#world;
    if (change.previous === undefined) return;
    const before: Pod = storage.decode('pods', change.previous);
    const after: Pod = storage.decode('pods', change.object);
    const isDeletion = change.kind === 'deleted' || after.metadata.deletionTimestamp !== undefined;
    if (isDeletion && before.metadata.deletionTimestamp === undefined) this.#checkDeletion(before, process);
  }

  /** Some NoExecute taint of the node has been there for longer than the pod tolerates it, or the node is gone. */
  #checkDeletion(pod: Pod, process: string): void {
    const { storage } = this.#world;
    const node = pod.spec?.nodeName ?? '';
    this.counts.deletions += 1;
    const isOver = ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '');
    if (isOver || storage.get('nodes', { name: node }) === undefined || this.#wasAbsent(node)) return;
    this.#checkCause(pod, node, process);
    this.#checkHealthy(pod, node, process);
  }

  #checkCause(pod: Pod, node: string, process: string): void {
    const { controllers, taintBasedEvictions } = this.#world.config;
    if (!controllers.taintEviction) this.#report('mode-is-kept', node, 'its pods are deleted by a detector');
    const isDue = taintBasedEvictions ? this.#isDueByTaint(pod, process) : this.#isTimedOut(node);
    if (isDue) return;
    const text = `deleted from ${node} without a taint or timeout that was due`;
    this.#report('deletion-has-reason', `default/${pod.metadata.name}`, text);
  }

  #isDueByTaint(pod: Pod, process: string): boolean {
    const { nowMs } = this.#world.timeline;
    const spans = this.#spans.get(pod.spec?.nodeName ?? '') ?? [];
    return spans.some((span) => {
      if (this.#formerOf(pod, span).some((former) => this.#isDue(former, span, nowMs))) return true;
      return this.#versionsOf(pod).some(
        (version) => this.#isDue(version, span, nowMs) || this.#isDueByStamp(version, span, process),
      );
    });
  }

  /** The pod as it was under this taint: a toleration that becomes longer, but is none without limit, does not postpone. */
  #formerOf(pod: Pod, { taint, fromMs }: TaintSpan): readonly Pod[] {
    if (secondsTolerated(pod, taint) === Infinity) return [];
    const earlier = this.#earlier.get(pod.metadata.uid ?? '') ?? [];
    return earlier.filter(({ untilMs }) => untilMs >= fromMs).map((version) => version.pod);
  }

  /** In eviction mode: a short time ago the node was not Ready, or silent, for the timeout, as far as its lease could be decoded. */
  #isTimedOut(node: string): boolean {
    if (!this.#leasesAreReadable) return true;
    const { timeline, config } = this.#world;
    const sinceMs = timeline.nowMs - this.#latenessMs;
    const unready = (this.#unready.get(node) ?? []).filter(({ toMs }) => toMs >= sinceMs);
    const unreadyMs = unready.map(({ fromMs, toMs }) => Math.min(toMs, timeline.nowMs) - fromMs);
    // A watch cache that lags shows a heartbeat that late.
    const silentMs = this.#heartbeats.longestSilenceMs(node, sinceMs, this.#world.longestLagMs());
    return Math.max(...unreadyMs, silentMs) >= config.podEvictionTimeoutMs - 2 * secondMs;
  }

  /** True if the node was absent: it may have come back, also by a restore, after the deletion was decided. */
  #wasAbsent(node: string): boolean {
    return (this.#absentUntilMs.get(node) ?? -Infinity) > this.#world.timeline.nowMs - this.#latenessMs;
  }

  /** A node that is Ready and sends heartbeats keeps its pods, although its taints were not removed yet. */
  #checkHealthy(pod: Pod, node: string, process: string): void {
    const { timeline } = this.#world;
    const readyMs = timeline.nowMs - (this.#readySince.get(node) ?? Infinity);
    const silentMs = this.#heartbeats.longestSilenceMs(node, timeline.nowMs - readyMs + this.#healthyMsMin / 2);
    const isHealthy = readyMs > this.#healthyMsMin && readyMs < healthyMsMax && silentMs < 15 * secondMs;
    const isDueForOther = (this.#spans.get(node) ?? []).some(
      (span) =>
        !isHealthTaint(span.taint) &&
        this.#versionsOf(pod).some((each) => {
          return this.#isDue(each, span, timeline.nowMs) || this.#isDueByStamp(each, span, process);
        }),
    );
    if (!isHealthy || isDueForOther) return;
    const text = `deleted from ${node}, which is Ready for ${Math.round(readyMs / secondMs)} s`;
    this.#report('healthy-node-keeps-pods', `default/${pod.metadata.name}`, text);
  }

  /**
   * No countdown begins before the pod is bound. One health taint may have replaced the other: then the earlier end of
   * both counts.
   */
  #isDue(pod: Pod, { taint, fromMs, untilMs }: TaintSpan, nowMs: number): boolean {
    const isPast = untilMs < nowMs - this.#latenessMs;
    const isReplaced = isHealthTaint(taint) && this.#isReplaced(pod.spec?.nodeName ?? '', untilMs);
    if (isPast && !isReplaced) return false;
    const boundMs = this.#created.get(pod.metadata.uid ?? '') ?? Number.NEGATIVE_INFINITY;
    const seconds = secondsTolerated(pod, taint);
    // timeAdded has whole seconds. What is not tolerated is due at once.
    return seconds === undefined || nowMs - Math.max(fromMs, boundMs) >= seconds * secondMs - secondMs;
  }

  /**
   * A new leader counts from the time in the taint and that of the binding, by its own wall clock: the current one, or that of
   * a renewal, as a countdown that runs is not affected by a step. The first renewal may be committed long before the leader
   * has an answer to one.
   */
  #isDueByStamp(pod: Pod, { taint, fromMs }: TaintSpan, process: string): boolean {
    const nowMs = this.#world.machines.get(process)?.wallMs();
    const leads = this.#leadsSince.get(process);
    if (nowMs === undefined || leads === undefined || leads.atMs <= fromMs) return false;
    const wallMs = Math.max(nowMs, this.#world.timeline.nowMs + leads.aheadMs);
    const addedMs = parseTimestamp(taint.timeAdded) ?? Infinity;
    const boundMs = parseTimestamp(pod.metadata.creationTimestamp) ?? -Infinity;
    return wallMs - Math.max(addedMs, boundMs) >= (secondsTolerated(pod, taint) ?? 0) * secondMs;
  }

  /** True if another health taint followed at once, and is there still, or was replaced in turn. */
  #isReplaced(node: string, untilMs: number): boolean {
    const next = (this.#spans.get(node) ?? []).find(
      (span) => isHealthTaint(span.taint) && span.fromMs >= untilMs && span.fromMs <= untilMs + this.#latenessMs,
    );
    return next !== undefined && (next.untilMs === Infinity || this.#isReplaced(node, next.untilMs));
  }
}

/** Undefined: not at all. */
function secondsTolerated(pod: Pod, taint: Taint): number | undefined {
  const toleration = (pod.spec?.tolerations ?? []).find((candidate) => tolerates(candidate, taint));
  return toleration === undefined ? undefined : (toleration.tolerationSeconds ?? Infinity);
}

function healthTaintsIn(node: Node): readonly string[] {
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  return healthTaintKeys.filter((key) => taints.some((taint) => taint.key === key));
}
