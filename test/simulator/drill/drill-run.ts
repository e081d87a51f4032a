import { controlPlanePathFailureHoldDefaults as holdDefaults } from '../../../src/controller/model/options.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import { parseTimestamp } from '../../../src/machinery/api/timestamps.ts';
import { zoneDivergences } from '../checkers/find-divergences.ts';
import type { Heartbeats } from '../checkers/heartbeats.ts';
import type { Report } from '../checkers/violation.ts';
import { FaultDriver } from '../faults/fault-driver.ts';
import type { RequestLine } from '../../../src/simulator/network/network.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import { isReady, zoneNameOf } from '../../../src/simulator/node-fields.ts';
import { type EvictionRate, policyOf, ratesOf } from '../policy-zones.ts';
import { wallStartMs, type World } from '../../../src/simulator/world.ts';
import { drawDrill } from './draw-drill.ts';
import type { Drill, DrillCluster } from './drill-plan.ts';
import { DrillRecord } from './drill-record.ts';
import { findStuckMiscount } from './stuck-pods-drill.ts';
import { findDrillViolations } from './find-drill-violations.ts';

/** Slack of a time limit: so much, so many latencies, and as long as requests waited for the limit of the client. */
const slackMsMin = 6_500;
const slackLatencies = 20;
/** Number of latencies after which a commit is known to the controller, and to its writes. */
const knownLatencies = 4;
/** Writes of each other node that a write of a node waits for: its status, its taints, its pods take turns. */
const writesOfOthers = 2;
/** A node that renews its lease again is counted within this time. */
const countedMs = 12_000;

interface DrillRunOptions {
  readonly world: World;
  readonly heartbeats: Heartbeats;
  readonly report: Report;
  readonly seed: number;
  /** Maximum latency of one leg, and of a watch cache. */
  readonly latencyMsMax: number;
  /** Limits of the main client: requests per second, and burst. */
  readonly limits: { readonly qps: number; readonly burst: number };
  /** Writes that a replica has under way at once; absent: as many as by default. */
  readonly concurrentWrites: number | undefined;
  /** Nodes that stay silent. */
  readonly silent: ReadonlySet<string>;
}

/** The drill of one run, see {@link drawDrill}. */
export class DrillRun {
  readonly #options: DrillRunOptions;
  readonly #record: DrillRecord;
  readonly #waits: LimitWaits;
  #drill: Drill | undefined;
  #fromMs = 0;

  constructor(options: DrillRunOptions) {
    this.#options = options;
    this.#record = new DrillRecord(options.world, options.heartbeats);
    this.#waits = new LimitWaits(options.limits);
  }

  /** Undefined if the cluster is too small for it. */
  begin(): Drill | undefined {
    const { world, seed } = this.#options;
    const drill = drawDrill(seed, this.#cluster());
    this.#drill = drill;
    this.#fromMs = world.timeline.nowMs;
    if (drill === undefined) return undefined;
    world.trace.add('run', () => `drill: ${drill.name}`);
    this.#record.begin();
    new FaultDriver(world, 'drill').schedule(drill.acts.map((act) => ({ ...act, atMs: act.atMs + this.#fromMs })));
    return drill;
  }

  /** A replica sent a request. */
  onSent(line: RequestLine): void {
    if (this.#drill === undefined) return;
    const { verb, resource, name, uid = '' } = line;
    if (verb === 'patch') this.#record.notePatch(resource, name);
    if (verb === 'delete' && resource === 'pods') this.#record.noteDelete(uid);
    this.#waits.onSent(line, this.#options.world.timeline.nowMs);
  }

  /** To be called from time to time. */
  check(): void {
    const { world, heartbeats, report } = this.#options;
    const { nowMs } = world.timeline;
    const sinceMs = nowMs - this.#fromMs;
    const miscount = this.#drill?.stuckPods && findStuckMiscount(world, this.#drill.stuckPods, sinceMs);
    if (miscount !== undefined) report('stuck-pods-are-counted', this.#drill?.stuckPods?.node ?? '', miscount);
    if (this.#drill?.mayBeLate === true || sinceMs < countedMs) return;
    const nodes: readonly Node[] = world.storage.list('nodes');
    const counted = this.#counted(nodes);
    if (counted === undefined) return;
    const { nodeMonitorGracePeriodMs } = world.config;
    const isSteady = nodes.every((node) => {
      const { name = '' } = node.metadata;
      const lastMs = this.#record.nodes.get(name)?.states.findLast(isTransition)?.atMs ?? 0;
      // A silence that probes have proven counts before its state is written.
      const { earliestMs = Infinity } = policyOf(node.metadata, world.config.policies)?.detection ?? {};
      const silentMsMax = Math.min(nodeMonitorGracePeriodMs - countedMs / 2, earliestMs);
      const hasRenewed = heartbeats.longestSilenceMs(name, nowMs - countedMs) < silentMsMax;
      return nowMs - lastMs > countedMs && (!isReady(node) || hasRenewed);
    });
    const hasAll =
      nodes.length === [...this.#record.nodes].filter(([, { states }]) => states.at(-1)?.ready !== 'gone').length;
    for (const { subject, text } of isSteady && hasAll ? zoneDivergences(world, counted) : [])
      report('zones-are-counted', subject, text);
  }

  /** A node in maintenance is not counted. Undefined: its maintenance ends about now. */
  #counted(nodes: readonly Node[]): readonly Node[] | undefined {
    const { maintenance } = this.#drill ?? {};
    if (maintenance === undefined) return nodes;
    const leftMs = this.#fromMs + maintenance.untilMs - this.#options.world.timeline.nowMs;
    if (Math.abs(leftMs) < countedMs) return undefined;
    return nodes.filter(({ metadata }) => leftMs < 0 || metadata.name !== maintenance.node);
  }

  /** Reports what was wrong. */
  end(): void {
    const { world, report } = this.#options;
    if (this.#drill === undefined) return;
    const span = { fromMs: this.#fromMs, untilMs: world.timeline.nowMs };
    const waitsMs = Math.ceil(this.#waits.longestMs);
    const slackMs = slackMsMin + slackLatencies * this.#options.latencyMsMax + waitsMs + this.#turnsMs();
    const knownMs = knownLatencies * this.#options.latencyMsMax;
    const { config: options, settings } = world;
    const rates = (zone: string): readonly EvictionRate[] => ratesOf(zone, settings);
    const record = this.#record;
    const graceMsOf = (node: string): number => this.#graceMsOf(node);
    const context = { drill: this.#drill, record, span, options, graceMsOf, rates, slackMs, knownMs, waitsMs };
    for (const { invariant, subject, text } of findDrillViolations(context)) {
      report(invariant, subject, `${text} (drill ${this.#drill.name} from ${(span.fromMs / 1_000).toFixed(1)} s)`);
    }
  }

  /** How long the last of all nodes waits for its turn where few writes are under way at once: for a few of each other node. */
  #turnsMs(): number {
    const { world, concurrentWrites = Infinity, latencyMsMax } = this.#options;
    return (writesOfOthers * world.storage.list('nodes').length * latencyMsMax) / concurrentWrites;
  }

  #graceMsOf(name: string): number {
    const { config, storage } = this.#options.world;
    const node: Node | undefined = storage.get('nodes', { name });
    const policy = policyOf(node?.metadata ?? { name }, config.policies);
    return policy?.nodeMonitorGracePeriodMs ?? config.nodeMonitorGracePeriodMs;
  }

  #cluster(): DrillCluster {
    const { world, silent } = this.#options;
    const nodes = world.storage.list('nodes').map(({ metadata }) => {
      return { name: metadata.name ?? '', zone: zoneNameOf({ metadata }) };
    });
    const silentIn = new Map<string, number>();
    for (const { name, zone } of nodes) if (silent.has(name)) silentIn.set(zone, (silentIn.get(zone) ?? 0) + 1);
    const {
      nodeMonitorGracePeriodMs: graceMs,
      leaseConfirmationHoldMs: leaseHoldMs,
      controlPlanePathFailureHoldMs,
    } = world.config;
    const ready = nodes.filter(({ name }) => !silent.has(name));
    const zones = new Set(ready.map(({ zone }) => zone)).size;
    const pathFailureHoldMs =
      controlPlanePathFailureHoldMs ?? (zones > 1 ? holdDefaults.longMs : holdDefaults.oneZoneMs);
    const trueMs = wallStartMs + world.timeline.nowMs;
    const statuses: readonly Node[] = world.storage.list('nodes');
    const clocksAgree =
      [...world.machines.values()].every((machine) => Math.abs(machine.wallMs() - trueMs) < 1_000) &&
      // A status is posted again after minutes: it may have been written while a clock was ahead.
      statuses.every((node) => heartbeatMs(node) < trueMs + 1_000);
    const pods: readonly Pod[] = world.storage.list('pods');
    const withPods = new Set(pods.flatMap((pod) => (isReady(pod) ? (pod.spec?.nodeName ?? []) : [])));
    return {
      nodes: ready,
      withPods,
      silentIn,
      clocksAgree,
      wallMs: trueMs,
      leader: world.leader()?.name ?? '',
      servers: [...world.servers.keys()],
      graceMs,
      leaseHoldMs,
      pathFailureHoldMs,
      replicas: [...world.replicas.values()].filter(({ run }) => run !== undefined).length,
      writesOneByOne: this.#options.concurrentWrites === 1,
      namespaceAutonomy: world.config.namespaceAutonomy,
    };
  }
}

function isTransition(
  { ready }: { readonly ready: string },
  index: number,
  states: readonly { readonly ready: string }[],
): boolean {
  return ready !== states[index - 1]?.ready;
}

interface Limits {
  readonly qps: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
  /** Since when each request took a token as soon as there was one. */
  emptySinceMs: number;
}

/** Requests are not sent in the very moment of their token: latencies of the process, clock drift. */
const tokensMore = 0.05;

/** Time that a request of the main client may have waited for `--kube-api-qps`: the longest without a spare token. */
export class LimitWaits {
  readonly #limits: Limits;
  readonly #buckets = new Map<string, Bucket>();
  #longestMs = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get longestMs(): number {
    return this.#longestMs;
  }

  onSent({ by: { process, client }, verb }: RequestLine, nowMs: number): void {
    if (client !== 'main' || verb === 'watch') return;
    const { qps, burst } = this.#limits;
    const bucket = this.#buckets.get(process) ?? { tokens: burst, atMs: nowMs, emptySinceMs: nowMs };
    const tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * qps);
    if (tokens > 1 + tokensMore) bucket.emptySinceMs = nowMs;
    bucket.tokens = Math.max(0, tokens - 1);
    bucket.atMs = nowMs;
    this.#buckets.set(process, bucket);
    this.#longestMs = Math.max(this.#longestMs, nowMs - bucket.emptySinceMs);
  }
}

/** The time in the last status of its kubelet. */
function heartbeatMs({ status }: Node): number {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return parseTimestamp(ready?.lastHeartbeatTime) ?? -Infinity;
}
