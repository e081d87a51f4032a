// Checks every request of the replicas when it is sent.
import type { Lease } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import type { Stages } from '../../controller/stages.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import { clockSkewMs, parseTimestamp } from '../../machinery/api/timestamps.ts';
import { diffTaints, isOwnTaint, noExecuteTaints } from '../../machinery/api/taints.ts';
import { readyOf } from '../../controller/health/assess-node.ts';
import type { MaintenanceRule, NodePolicy } from '../../controller/model/policy.ts';
import { isForHealth } from '../../controller/taint-eviction/decide-eviction.ts';
import type { Replica, Run } from '../cluster/replica.ts';
import { isDeletion, isWrite, type RequestLine } from '../network/network.ts';
import { nodesOf, policyOf } from '../policy-zones.ts';
import type { World } from '../world.ts';
import { whyCrowded } from './find-crowded-policy.ts';
import type { Report } from './violation.ts';

/** Requests for one object and purpose within the window: more of them do not back off. */
const repeatsMax = 60;
const repeatsWindowMs = 60_000;
/** Clocks drift, and what is sent at the deadline is sent before it. */
const marginMs = 100;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class RequestChecker {
  readonly #world: World;
  readonly #report: Report;
  readonly #limits: { readonly qps: number; readonly burst: number };
  readonly #buckets = new Map<string, Bucket>();
  readonly counts = { requests: 0, writes: 0 };
  /** Last write of a node or pod. */
  #lastClusterWrite: RequestLine | undefined;
  /** Each call has a line of its own, so one that is sent again is a retry by the transport. */
  readonly #writesSent = new WeakSet<RequestLine>();
  /** Times of requests, by replica, object and purpose. */
  readonly #repeats = new Map<string, number[]>();
  /** By replica: when the last renewal of the leader lease was sent, and the last one that was committed. */
  readonly #renewals = new Map<string, { sentMs: number; committedMs: number }>();

  constructor(world: World, report: Report, limits: { readonly qps: number; readonly burst: number }) {
    this.#world = world;
    this.#report = report;
    this.#limits = limits;
    world.storage.onCommit((resource, { object }, { process, client }) => {
      if (resource === 'leases' && client === 'election' && object.name === world.config.leaderElectResourceName) {
        const renewal = this.#renewals.get(process);
        if (renewal !== undefined) renewal.committedMs = renewal.sentMs;
      }
    });
  }

  /** The last write to a node or pod since {@link forgetWrites}. */
  get lastClusterWrite(): RequestLine | undefined {
    return this.#lastClusterWrite;
  }

  forgetWrites(): void {
    this.#lastClusterWrite = undefined;
  }

  onSent(replica: Replica, line: RequestLine): void {
    this.counts.requests += 1;
    if (replica.run === undefined)
      this.#report('silent-after-end', replica.name, `${describe(line)} after the end of the process`);
    if (line.by.client === 'main' && line.verb !== 'watch') this.#checkBudget(replica, line);
    if (!isWrite(line)) return;
    this.counts.writes += 1;
    if (line.by.client === 'election') this.#noteRenewal(replica);
    else this.#checkWrite(replica, line);
  }

  #checkWrite(replica: Replica, line: RequestLine): void {
    this.#checkRepeats(replica, line);
    if (isDeletion(line) && (line.uid ?? '') === '')
      this.#report('deletion-names-uid', line.name, `${describe(line)} without the uid of the object`);
    this.#checkMargin(replica, line);
    if (line.by.client === 'main') this.#checkReason(replica, line);
    if (line.resource === 'nodes' || line.resource === 'pods') this.#lastClusterWrite = line;
    this.#checkLeader(replica, line);
  }

  #noteRenewal({ name }: Replica): void {
    const { nowMs } = this.#world.timeline;
    const committedMs = this.#renewals.get(name)?.committedMs ?? -Infinity;
    this.#renewals.set(name, { sentMs: nowMs, committedMs });
  }

  /** Leadership lasts for the renew deadline from when the renewal was sent. */
  #checkMargin({ name }: Replica, line: RequestLine): void {
    const agoMs = this.#world.timeline.nowMs - (this.#renewals.get(name)?.committedMs ?? -Infinity);
    if (agoMs <= this.#world.config.leaderElectRenewDeadlineMs + marginMs) return;
    const text = `${describe(line)} ${(agoMs / 1_000).toFixed(3)} s after the last renewal was sent`;
    this.#report('leadership-is-a-deadline', name, text);
  }

  #checkRepeats(replica: Replica, line: RequestLine): void {
    if (this.#writesSent.has(line)) {
      this.#report('write-sent-once', replica.name, `${describe(line)} was sent again by the transport`);
    }
    this.#writesSent.add(line);
    if (line.resource === 'events' || line.resource === 'leases') return;
    const { nowMs } = this.#world.timeline;
    const key = `${replica.name} ${describe(line)}`;
    const times = (this.#repeats.get(key) ?? []).filter((atMs) => atMs > nowMs - repeatsWindowMs);
    times.push(nowMs);
    this.#repeats.set(key, times);
    if (times.length > repeatsMax)
      this.#report('retries-back-off', line.name, `${describe(line)} ${times.length} times within a minute`);
  }

  /** Immediately before a request is sent its reason holds, as far as the sender knows. */
  #checkReason({ name, run }: Replica, line: RequestLine): void {
    if (run === undefined) return;
    const why =
      whyHeld(this.#world.config, run, line) ??
      (isUnknown(line) ? whyNotUnknown(run, line.name) : whyNotDeleted(run, line));
    if (why !== undefined)
      this.#report('write-still-wanted', line.name, `${describe(line)} by ${name} although ${why}`);
  }

  /** A token bucket of the same size, with the tolerance of a timer that fires late. */
  #checkBudget(replica: Replica, line: RequestLine): void {
    const { qps, burst } = this.#limits;
    const { nowMs } = this.#world.timeline;
    const key = `${replica.name}/${replica.run?.stop.signal === undefined}`;
    const bucket = this.#buckets.get(key) ?? { tokens: 2 * burst, atMs: nowMs };
    bucket.tokens = Math.min(2 * burst, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * qps * 1.01);
    bucket.atMs = nowMs;
    bucket.tokens -= 1;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < -burst) {
      this.#report('request-budget', replica.name, `${describe(line)}: more than ${qps}/s with a burst of ${burst}`);
      bucket.tokens = burst;
    }
  }

  /** Checks that no other replica holds the lease in storage when this one sends a write. */
  #checkLeader(replica: Replica, line: RequestLine): void {
    const { leaderElectResourceName: name, leaderElectResourceNamespace: namespace } = this.#world.config;
    const lease: Lease | undefined = this.#world.storage.get('leases', { namespace, name });
    const holder = lease?.spec?.holderIdentity ?? '';
    if (holder.startsWith(`${replica.name}_`)) return;
    // A restore of etcd may put another holder into the lease; the leader learns of it with its next renewal.
    const { restoredAtMs, timeline } = this.#world;
    if (timeline.nowMs - restoredAtMs < this.#world.config.leaderElectRenewDeadlineMs) return;
    const why = holder === '' ? 'while no replica holds the lease' : `while ${holder} holds the lease`;
    this.#report('only-the-leader-writes', replica.name, `${describe(line)} ${why}`);
  }
}

/** By the settings as they are now. Pods that are over, or whose node is gone, are not held by a policy. */
function whyHeld({ policies, paused }: World['config'], run: Run, line: RequestLine): string | undefined {
  const node = nodeOf(run, line);
  if (node === undefined) return undefined;
  const policy = policyOf(node, policies);
  if (policy?.mode === 'Observe') return 'the policy of the node has mode Observe';
  if ((paused || policy?.mode === 'Paused') && isWorse(run, line)) return 'the node is paused';
  return policy === undefined ? undefined : whyHeldForHealth(policy, run, line, node);
}

function whyHeldForHealth(policy: NodePolicy, run: Run, line: RequestLine, node: string): string | undefined {
  if (!isWriteForHealth(run, line, node)) return undefined;
  const why = whyLimited(policy, run) ?? whyInMaintenance(policy, run, node);
  return why ?? (line.resource === 'nodes' ? whyCrowded(policy, run, node) : undefined);
}

/** A NoExecute taint for the health of the node, or the eviction of a pod for such taints only. */
function isWriteForHealth({ manager }: Run, line: RequestLine, node: string): boolean {
  const carried = manager.lifecycle.stages.nodes.get(node)?.taints ?? [];
  if (line.resource === 'pods') return isDeletion(line) && noExecuteTaints(carried).every(isForHealth);
  if (isUnknown(line)) return false;
  return noExecuteTaints(diffTaints(line.taints ?? [], carried).add).some(isForHealth);
}

/** Only nodes count of which every cache says that they are not Ready: a silence that is not written is left out. */
function whyLimited(policy: NodePolicy, { manager }: Run): string | undefined {
  if (policy.limits === undefined) return undefined;
  const { percent = 0, count = 0 } = policy.limits.maxUnhealthy;
  const { store } = manager.informers.nodes;
  const existing = nodesOf(policy).filter((name) => store.get(name) !== undefined);
  const isUnready = (node: NodeView | undefined): boolean => node !== undefined && readyOf(node) !== 'True';
  const unready = existing.filter(
    (name) => isUnready(store.get(name)) && isUnready(manager.lifecycle.stages.nodes.get(name)),
  );
  const isTooMany = unready.length > Math.max((existing.length * percent) / 100, count);
  return isTooMany ? `${unready.length} of ${existing.length} nodes of its policy are not Ready` : undefined;
}

/** A signal that every cache shows, and that counts by its own time; others are left to the drill. */
function whyInMaintenance({ maintenance }: NodePolicy, { manager, process }: Run, name: string): string | undefined {
  if (maintenance === undefined) return undefined;
  const known = [manager.informers.nodes.store.get(name), manager.lifecycle.stages.nodes.get(name)];
  const wallMs = process.nowMs();
  const ends = known.map((node) => (node === undefined ? -Infinity : maintenanceEndMs(maintenance, node, wallMs)));
  const leftMs = Math.min(...ends) - wallMs;
  return leftMs > marginMs ? `the node is in maintenance for ${Math.round(leftMs / 1_000)} s more` : undefined;
}

/** By wall time. A time in the future is none at which anything began. */
function maintenanceEndMs(
  { conditions, taints, maxDurationMs }: MaintenanceRule,
  node: NodeView,
  wallMs: number,
): number {
  const stamps = [
    ...node.conditions.filter(({ type, status }) => status === 'True' && conditions.includes(type)),
    ...node.taints
      .filter(({ key }) => taints.includes(key))
      .map(({ timeAdded }) => ({ lastTransitionTime: timeAdded })),
  ].flatMap(({ lastTransitionTime }) => parseTimestamp(lastTransitionTime) ?? []);
  return Math.max(...stamps.filter((atMs) => atMs <= wallMs + clockSkewMs).map((atMs) => atMs + maxDurationMs));
}

function isWorse({ manager }: Run, line: RequestLine): boolean {
  if (line.resource === 'pods' || isUnknown(line)) return true;
  const before = manager.lifecycle.stages.nodes.get(line.name)?.taints ?? [];
  // Of a list that is longer than is used the controller knows its own taints.
  return diffTaints((line.taints ?? []).filter(isOwnTaint), before).add.length > 0;
}

/** The node that exists and that a write to a node, or to a pod that is not over, is about. */
function nodeOf({ manager }: Run, { resource, name }: RequestLine): string | undefined {
  const { nodes, pods } = manager.informers;
  const pod = resource === 'pods' ? pods.store.get(objectKey('default', name)) : undefined;
  const node = pod === undefined || isOver(pod) ? undefined : pod.nodeName;
  const subject = resource === 'nodes' ? name : node;
  return subject === undefined || nodes.store.get(subject) === undefined ? undefined : subject;
}

function isUnknown({ verb, resource, subresource }: RequestLine): boolean {
  return verb === 'patch' && resource === 'nodes' && subresource === 'status';
}

function isOver({ terminating, phase }: PodView): boolean {
  return terminating || phase === 'Succeeded' || phase === 'Failed';
}

function whyNotUnknown({ manager }: Run, name: string): string | undefined {
  const { stages } = manager.lifecycle;
  const node = stages.nodes.get(name);
  if (node === undefined) return 'it does not exist';
  if (stages.freshness.staleness() !== undefined) return 'the watches are stale';
  return stages.health.evaluate(node, stages.healthNow()).kind === 'alive'
    ? 'a heartbeat was received within its grace period'
    : undefined;
}

/** The deletion of a live pod from a node that exists is an eviction by a NoExecute taint. */
function whyNotDeleted({ manager }: Run, line: RequestLine): string | undefined {
  const { resource, name } = line;
  if (!isDeletion(line) || resource !== 'pods') return undefined;
  const pod = manager.informers.pods.store.get(objectKey('default', name));
  const node = pod === undefined ? undefined : manager.informers.nodes.store.get(pod.nodeName);
  return pod === undefined || node === undefined || isOver(pod)
    ? undefined
    : whyNotEvicted(manager.lifecycle.stages, node);
}

function whyNotEvicted(stages: Stages, node: NodeView): string | undefined {
  const taints = noExecuteTaints(node.taints);
  if (taints.length === 0) return 'its node has no NoExecute taint';
  if (!taints.every(isForHealth)) return undefined;
  if (stages.zones.fullDisruption) return 'all zones are fully disrupted';
  return stages.freshness.staleness() === undefined ? undefined : 'the watches are stale';
}

export function describe({ verb, resource, name, subresource }: RequestLine): string {
  return `${verb} ${resource}${name === '' ? '' : `/${name}`}${subresource === undefined ? '' : `/${subresource}`}`;
}
