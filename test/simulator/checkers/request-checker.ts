// Checks every request of the replicas when it is sent.
import type { Lease } from '../../../src/machinery/api/lease.ts';
import type { NodeView } from '../../../src/machinery/api/node.ts';
import type { Stages } from '../../../src/controller/stages.ts';
import { witnessLeaseName } from '../../../src/machinery/api/resources.ts';
import { objectKey } from '../../../src/machinery/api/object-key.ts';
import type { PodView } from '../../../src/machinery/api/pod.ts';
import { noExecuteTaints } from '../../../src/machinery/api/taints.ts';
import { toleratesForever } from '../../../src/machinery/api/tolerations.ts';
import { isForHealth } from '../../../src/machinery/api/taints.ts';
import type { Replica, Run } from '../../../src/simulator/cluster/replica.ts';
import { isDeletion, isWrite, type RequestLine } from '../../../src/simulator/network/network.ts';
import type { World } from '../../../src/simulator/world.ts';
import { isOver, isUnknown, whyHeld } from './find-hold.ts';
import { whyBudgetNotAsked } from './find-unasked-budget.ts';
import type { Report } from './violation.ts';

/** Requests for one object and purpose within the window: more of them do not back off. */
const repeatsMax = 60;
const repeatsWindowMs = 60_000;
/** Changed settings are a reason to try again at once: what failed is retried so often within a second, before it backs off as before. */
const triesPerChange = 5;
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
  /** Times of requests of each process, by object and purpose: one that starts knows of no failure before. */
  readonly #repeats = new WeakMap<Run, Map<string, number[]>>();
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
    else if (isReport(line)) this.#checkRepeats(replica, line);
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
    if (replica.run === undefined) return;
    const repeats = this.#repeats.get(replica.run) ?? new Map<string, number[]>();
    this.#repeats.set(replica.run, repeats);
    const times = (repeats.get(describe(line)) ?? []).filter((atMs) => atMs > nowMs - repeatsWindowMs);
    times.push(nowMs);
    repeats.set(describe(line), times);
    const changes = this.#world.settings.filter(({ fromMs }) => fromMs > nowMs - repeatsWindowMs).length;
    if (times.length > repeatsMax + triesPerChange * changes)
      this.#report('retries-back-off', line.name, `${describe(line)} ${times.length} times within a minute`);
  }

  /** Immediately before a request is sent its reason holds, as far as the sender knows. */
  #checkReason({ name, run, config }: Replica, line: RequestLine): void {
    if (run === undefined) return;
    const why =
      whyHeld(config, run, line) ??
      whyBudgetNotAsked(config, run, line) ??
      whyMarkedAgain(run, line) ??
      (isUnknown(line) ? whyNotUnknown(run, line.name) : whyNotDeleted(config, run, line));
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

/** A report of a standby to the leader: no act on a node or pod. */
function isReport({ by, resource, name }: RequestLine): boolean {
  return by.client === 'witness' && resource === 'leases' && name === witnessLeaseName;
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

/** As the watch brought it, and as the newest answer shows it. */
function whyMarkedAgain({ manager }: Run, { resource, name, setsNotReady }: RequestLine): string | undefined {
  if (resource !== 'pods' || setsNotReady !== true) return undefined;
  const key = objectKey('default', name);
  const versions = [manager.informers.pods.store.get(key), manager.lifecycle.stages.pods.get(key)];
  return versions.every((pod) => pod?.ready === 'False') ? 'the pod is NotReady already' : undefined;
}

/** The deletion of a live pod from a node that exists is an eviction by a NoExecute taint. */
function whyNotDeleted(
  { taintBasedEvictions }: World['config'],
  { manager }: Run,
  line: RequestLine,
): string | undefined {
  const { resource, name } = line;
  if (!isDeletion(line) || resource !== 'pods' || !taintBasedEvictions) return undefined;
  const { informers, lifecycle } = manager;
  const pod = informers.pods.store.get(objectKey('default', name));
  // A read after a conflict may have brought a newer version than the watch.
  const newest = lifecycle.stages.pods.get(objectKey('default', name)) ?? pod;
  const node = pod === undefined ? undefined : manager.informers.nodes.store.get(pod.nodeName);
  if (pod === undefined || node === undefined || isOver(pod)) return undefined;
  const taints = noExecuteTaints(node.taints);
  const tolerates = (version: PodView | undefined): boolean =>
    version !== undefined && taints.every((taint) => toleratesForever(version.tolerations, taint));
  if (taints.length > 0 && tolerates(pod) && tolerates(newest)) return 'the pod tolerates the taints of its node';
  return whyNotEvicted(manager.lifecycle.stages, node);
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
