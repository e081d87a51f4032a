// Makes the stages and ties them to each other. What each of them needs of the others is handed over as a question
// (`isHeld`, `standingOf`): no stage knows another. Options may change while we run, so a stage is given them, or an accessor
// for each that it needs.
import { findCondition, neverUpdated } from '../api/conditions.ts';
import type { DaemonSetView } from '../api/daemonset.ts';
import type { LeaseView } from '../api/lease.ts';
import type { NodeView } from '../api/node.ts';
import { objectKey } from '../api/object-key.ts';
import type { PodView } from '../api/pod.ts';
import { nodeLeaseNamespace } from '../api/resources.ts';
import { isExcludedFromDisruption, zoneOf } from '../api/topology.ts';
import type { Informer } from '../informer/informer.ts';
import { NewerAnswers } from '../informer/newer-answers.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Leadership } from '../ports/leadership.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { CanaryLease, LiveLeases } from '../ports/sight.ts';
import type { WriteLanes } from '../ports/write-lanes.ts';
import type { ClosableWriter, CommandWriter, NodeSource } from './commands.ts';
import { DecisionLog } from './decision-log.ts';
import type { EvictionHold } from './decisions.ts';
import { podsByNode, TaintEvictor } from './eviction/taint-evictor.ts';
import { graceOf, type Now, readyOf } from './health/assess-node.ts';
import { HealthTable } from './health/health-table.ts';
import { VerdictBook } from './health/verdict-book.ts';
import { showHeldNodes } from './held-nodes.ts';
import type { ControllerOptions, ControllerSelection, PodGcOptions } from './options.ts';
import type { Fall } from './outage/classify-outage.ts';
import { OutageWatch } from './outage/outage-watch.ts';
import { PodEvictor } from './pod-eviction/pod-evictor.ts';
import { readNodePresence } from './pod-gc/node-presence.ts';
import { PodGarbageCollector } from './pod-gc/pod-garbage-collector.ts';
import type { NodeStanding } from './pod-readiness/decide-marking.ts';
import { MarkingLines } from './pod-readiness/marking-lines.ts';
import { PodMarker } from './pod-readiness/pod-marker.ts';
import { Canary } from './sight/canary.ts';
import { Observer } from './sight/observer.ts';
import { planSight } from './sight/plan-sight.ts';
import { evictionsTotal } from './tainting/metrics.ts';
import { NoExecuteTainter } from './tainting/no-execute-tainter.ts';
import { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import { ApiWriter, type ApiWriterOptions } from './writer/api-writer.ts';
import { ZoneTable } from './zones/zone-table.ts';

export interface NodeLifecycleOptions {
  readonly options: ControllerOptions;
  readonly controllers: ControllerSelection;
  readonly podGc: PodGcOptions;
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    /** Of the namespace `kube-node-lease`. */
    readonly leases: Informer<LeaseView>;
    /** With the index `podsByNode`. */
    readonly pods: Informer<PodView>;
    /** With the index `daemonSetsByNamespace`; for the older eviction mode only, which must have it. */
    readonly daemonSets?: Informer<DaemonSetView>;
  };
  readonly api: ApiWriterOptions['api'];
  /** Who carries out what is decided instead of writing it to the API server, as in shadow mode. */
  readonly writer?: ClosableWriter | undefined;
  readonly lanes: WriteLanes;
  /** The API server itself, to be asked before a node is called silent, and whether it is there at all. */
  readonly liveLeases: LiveLeases;
  /** Written while we lead, to see whether the lease stream lags; absent: nobody looks. */
  readonly canaryLease?: CanaryLease | undefined;
  readonly leadership: Leadership;
  readonly recorders: { readonly nodes: EventRecorder; readonly evictions: EventRecorder };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

/** What every stage that acts is given. */
interface Means {
  readonly nodes: NodeSource;
  readonly writer: CommandWriter;
  readonly decisions: DecisionLog;
  readonly clock: Clock;
  readonly meter: Meter;
}

export class Stages {
  readonly decisions: DecisionLog;
  /** Reading nodes and leases so that live answers and our own writes show at once. */
  readonly nodes: NewerAnswers<NodeView>;
  readonly leases: NewerAnswers<LeaseView>;
  readonly canary: Canary | undefined;
  readonly sight: Observer;
  readonly health: HealthTable;
  readonly verdicts: VerdictBook;
  readonly zones: ZoneTable;
  readonly outage: OutageWatch;
  readonly queues: ZoneTaintQueues;
  readonly writer: ClosableWriter;
  readonly noExecute: NoExecuteTainter | PodEvictor;
  /** Undefined in taint mode. */
  readonly podEvictor: PodEvictor | undefined;
  readonly evictor: TaintEvictor;
  readonly marking: MarkingLines;
  readonly marker: PodMarker;
  readonly podGc: PodGarbageCollector;
  readonly means: Means;
  readonly #options: NodeLifecycleOptions;

  /** `abortWrites` cuts off writes that are under way. */
  constructor(options: NodeLifecycleOptions, abortWrites: AbortSignal) {
    const { clock, meter, logger, informers } = options;
    this.#options = options;
    this.decisions = new DecisionLog(logger, meter, () => clock.nowMs());
    this.nodes = new NewerAnswers((name) => informers.nodes.store.get(name));
    this.leases = new NewerAnswers((name) => informers.leases.store.get(objectKey(nodeLeaseNamespace, name)));
    this.canary = this.#makeCanary();
    this.sight = this.#makeSight();
    this.health = new HealthTable(options.options);
    this.verdicts = new VerdictBook({ decisions: this.decisions, meter, clock });
    this.zones = new ZoneTable(options.options, meter);
    this.outage = this.#makeOutageWatch();
    this.queues = new ZoneTaintQueues(options.options, meter, clock);
    const { nodes, decisions } = this;
    this.writer = options.writer ?? new ApiWriter({ ...options, nodes, decisions, signal: abortWrites });
    this.means = { nodes, writer: this.writer, decisions, clock, meter };
    this.podEvictor = options.options.taintBasedEvictions ? undefined : this.#makePodEvictor();
    this.noExecute = this.podEvictor ?? this.#makeNoExecuteTainter();
    this.evictor = this.#makeTaintEvictor();
    this.marking = this.#makeMarkingLines();
    this.marker = this.#makeMarker();
    this.podGc = this.#makePodGc(abortWrites);
    showHeldNodes(meter, this);
  }

  leaseOf(node: string): LeaseView | undefined {
    return this.leases.get(node);
  }

  /** Health counts time in which we could have heard something, and no other. */
  healthNow(): Now {
    return { monotonicMs: this.sight.nowMs(), wallMs: this.#options.clock.nowMs() };
  }

  observe(node: NodeView): void {
    this.health.observe(node, this.leaseOf(node.name), this.healthNow());
  }

  /** Nobody is sent away, nor told to be: we do not see, or everybody is dark, or the way to the API server is at fault. */
  isSendingHeld(): boolean {
    return this.#evictionHold() !== undefined || this.outage.hold() !== undefined;
  }

  #evictionHold(): EvictionHold | undefined {
    if (this.zones.everyZoneDark) return 'every-zone-dark';
    return this.sight.blindness() === undefined ? undefined : 'blind';
  }

  /**
   * The node came back while nobody led, say, and its pods were due meanwhile: who takes over finds the taint, and the time
   * up, and is about to take the taint back. Where others do that it is for them to say when the taint is void.
   */
  #pardonComing(name: string): EvictionHold | undefined {
    const node = this.#options.controllers.nodeLifecycle ? this.nodes.get(name) : undefined;
    return node !== undefined && readyOf(node) === 'True' ? 'node-is-ready' : undefined;
  }

  #standingOf(name: string): NodeStanding | undefined {
    const node = this.nodes.get(name);
    const record = this.health.get(name);
    if (node === undefined || record === undefined) return undefined;
    const neverPosted = findCondition(node.conditions, 'Ready')?.reason === neverUpdated.reason;
    return { ready: readyOf(node), heardSinceUnknown: record.heardSinceUnknown, neverPosted };
  }

  /** Nodes that count, have been heard and are not silent. */
  *#livingFalls(): Iterable<Fall> {
    for (const name of this.#options.informers.nodes.store.keys()) {
      const node = this.nodes.get(name);
      const record = this.health.get(name);
      if (node === undefined || record === undefined || this.outage.hasFallen(name)) continue;
      const { rule, graceMs } = graceOf(record, this.#options.options);
      if (rule !== 'monitor' || isExcludedFromDisruption(node.labels)) continue;
      yield { zone: zoneOf(node.labels), atMs: record.heardAtMs + graceMs };
    }
  }

  #makeCanary(): Canary | undefined {
    const { canaryLease, informers, options, clock, logger, meter } = this.#options;
    if (canaryLease === undefined) return undefined;
    return new Canary({
      lease: canaryLease,
      leases: informers.leases,
      get behindAfterMs() {
        return planSight(options.nodeMonitorGracePeriodMs).contactMsMax;
      },
      reopen: () => this.#reopen(),
      clock,
      logger,
      meter,
    });
  }

  #reopen(): void {
    for (const informer of Object.values(this.#options.informers)) informer.reopen();
  }

  #makeSight(): Observer {
    const { options, informers, liveLeases, recorders, clock, meter } = this.#options;
    return new Observer({
      get nodeMonitorGracePeriodMs() {
        return options.nodeMonitorGracePeriodMs;
      },
      nodes: informers.nodes,
      leases: informers.leases,
      live: liveLeases,
      canary: this.canary,
      reopen: () => this.#reopen(),
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
      clock,
    });
  }

  #makeOutageWatch(): OutageWatch {
    const { options, recorders, meter } = this.#options;
    return new OutageWatch({
      limits: options,
      livingFalls: () => this.#livingFalls(),
      healthNowMs: () => this.sight.nowMs(),
      isBlind: () => this.sight.blindness() !== undefined,
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
    });
  }

  #makeNoExecuteTainter(): NoExecuteTainter {
    return new NoExecuteTainter({
      ...this.means,
      queues: this.queues,
      readyOf,
      takeVerdictAgeMs: (node) => this.verdicts.takeVerdictAgeMs(node),
      isHeld: () => this.isSendingHeld(),
    });
  }

  #makePodEvictor(): PodEvictor {
    const { options, informers, recorders } = this.#options;
    if (informers.daemonSets === undefined) throw new TypeError('eviction mode needs an informer of daemonsets');
    return new PodEvictor({
      ...this.means,
      get podEvictionTimeoutMs() {
        return options.podEvictionTimeoutMs;
      },
      pods: informers.pods.store,
      podsByNode,
      daemonSets: informers.daemonSets.store,
      lines: this.queues,
      recorder: recorders.nodes,
      evictionsTotal,
      readyOf,
      healthOf: (node) => this.health.get(node),
      healthNowMs: () => this.sight.nowMs(),
      isHeld: () => this.isSendingHeld(),
    });
  }

  #makeTaintEvictor(): TaintEvictor {
    const { informers, recorders } = this.#options;
    return new TaintEvictor({
      ...this.means,
      pods: informers.pods.store,
      recorder: recorders.evictions,
      holdOf: (node) => this.#evictionHold() ?? this.#pardonComing(node),
    });
  }

  #makeMarkingLines(): MarkingLines {
    const { options, clock, meter } = this.#options;
    return new MarkingLines({
      get podMarkingRate() {
        return options.podMarkingRate;
      },
      zoneOf: (node) => zoneOf(this.nodes.get(node)?.labels ?? {}),
      isHeld: () => this.outage.hold() !== undefined,
      clock,
      meter,
    });
  }

  #makeMarker(): PodMarker {
    const { informers, recorders } = this.#options;
    return new PodMarker({
      ...this.means,
      pods: informers.pods.store,
      podsByNode,
      standingOf: (node) => this.#standingOf(node),
      turns: this.marking,
      recorder: recorders.nodes,
    });
  }

  #makePodGc(abortWrites: AbortSignal): PodGarbageCollector {
    const { podGc, informers, api } = this.#options;
    return new PodGarbageCollector({
      ...this.means,
      get terminatedPodGcThreshold() {
        return podGc.terminatedPodGcThreshold;
      },
      pods: informers.pods.store,
      readNode: (name) => readNodePresence(api, name, abortWrites),
    });
  }
}
