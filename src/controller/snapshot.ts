// The state of all stages at this moment, read and never changed: what `explain/` explains. Nothing is remembered here.
import type { LeaseView } from '../api/lease.ts';
import type { NodeView } from '../api/node.ts';
import { objectKey } from '../api/object-key.ts';
import { podKey, type PodView } from '../api/pod.ts';
import { isExcludedFromDisruption, zoneOf } from '../api/topology.ts';
import { zoneName } from '../api/zone.ts';
import type { Informer } from '../informer/informer.ts';
import type { Clock } from '../ports/clock.ts';
import type { Leadership } from '../ports/leadership.ts';
import type { Sight } from '../ports/sight.ts';
import type { DecisionLog, NotedDecision } from './decision-log.ts';
import { deriveRateAfterLoss, deriveRecoveriesToNormal } from './derive-hypotheses.ts';
import { deriveTaintFacts } from './derive-taint-facts.ts';
import { describeDecision } from './describe-decision.ts';
import { podsByNode, type TaintEvictor } from './eviction/taint-evictor.ts';
import type {
  AppointmentFacts,
  Circumstances,
  HealthFacts,
  HistoryFact,
  InformerFacts,
  LineFacts,
  NodeFacts,
  OutageHoldFacts,
  PodBrief,
  PodFacts,
  StatusFacts,
  ZoneFacts,
} from './explain/facts.ts';
import { graceOf, readyOf } from './health/assess-node.ts';
import type { HealthTable } from './health/health-table.ts';
import type { ControllerOptions } from './options.ts';
import type { OutageWatch } from './outage/outage-watch.ts';
import type { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import type { ZoneTally } from './zones/classify-zone.ts';
import type { ZoneTable } from './zones/zone-table.ts';

/** What an explanation is made from. Unknown names answer undefined. */
export interface Snapshot {
  circumstances(): Circumstances;
  node(name: string): NodeFacts | undefined;
  pod(namespace: string, name: string): PodFacts | undefined;
  zones(): readonly ZoneFacts[];
  status(): StatusFacts;
}

export interface SnapshotSources {
  readonly options: ControllerOptions;
  /** The stages as they run; a NodeLifecycle has them all. */
  readonly stages: {
    readonly decisions: Pick<DecisionLog, 'of'>;
    readonly zones: Pick<ZoneTable, 'zones' | 'plan' | 'condition' | 'everyZoneDark'>;
    readonly queues: Pick<ZoneTaintQueues, 'get'>;
    readonly health: Pick<HealthTable, 'get'>;
    readonly evictor: Pick<TaintEvictor, 'appointment' | 'runningTaints' | 'scheduled'>;
    readonly outage: Pick<OutageWatch, 'hold'>;
    readonly sight: Pick<Sight, 'nowMs' | 'blindness'>;
  };
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    readonly leases: Informer<LeaseView>;
    /** With the index `podsByNode`. */
    readonly pods: Informer<PodView>;
  };
  readonly leadership: Leadership;
  /** Identity of the leader as far as we know. */
  readonly holder: () => string | undefined;
  readonly clock: Clock;
}

const stopped: LineFacts = { nodes: [], tokens: 0, nextTokenAtMs: Infinity, ratePerSecond: 0 };

/** The snapshot of a running controller: every call looks anew, at the cost of what it looks at. */
export class LiveSnapshot implements Snapshot {
  readonly #sources: SnapshotSources;

  constructor(sources: SnapshotSources) {
    this.#sources = sources;
  }

  circumstances(): Circumstances {
    const { clock, leadership, holder, stages } = this.#sources;
    return {
      now: { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() },
      leading: leadership.holds(),
      holder: holder(),
      blind: stages.sight.blindness(),
      everyZoneDark: stages.zones.everyZoneDark,
      outageHold: this.#outageHold(),
    };
  }

  node(name: string): NodeFacts | undefined {
    const node = this.#sources.informers.nodes.store.get(name);
    if (node === undefined) return undefined;
    const health = this.#health(node);
    const ready = readyOf(node);
    const zone = zoneOf(node.labels);
    const counted = !isExcludedFromDisruption(node.labels);
    const { everyZoneDark } = this.#sources.stages.zones;
    return {
      node: name,
      ready,
      counted,
      health,
      taints: deriveTaintFacts(node, ready, everyZoneDark),
      zone: this.#zone(zone),
      ratePerSecondIfSilent: counted && ready === 'True' ? this.#rateAfterLoss(zone) : this.#line(zone).ratePerSecond,
      pods: this.#sources.informers.pods.store.byIndex(podsByNode, name).map((pod) => this.#brief(pod)),
      history: this.#history(name).filter(isOfNode),
    };
  }

  pod(namespace: string, name: string): PodFacts | undefined {
    const { informers, stages } = this.#sources;
    const pod = informers.pods.store.get(objectKey(namespace, name));
    if (pod === undefined) return undefined;
    return {
      ...this.#brief(pod),
      nodeName: pod.nodeName,
      phase: pod.phase,
      running: stages.evictor.runningTaints(pod.nodeName),
      node: this.node(pod.nodeName),
      history: this.#history(podKey(pod)).filter(isOfPod),
    };
  }

  /** By name. */
  zones(): readonly ZoneFacts[] {
    return this.#sources.stages.zones.zones().map((zone) => this.#zone(zone));
  }

  status(): StatusFacts {
    const { informers, stages } = this.#sources;
    const due = [...stages.evictor.scheduled().values()];
    const first = due.reduce((earliest, atMs) => Math.min(earliest, atMs), Infinity);
    return {
      informers: [informers.nodes, informers.leases, informers.pods].map((informer) => informerFacts(informer)),
      zones: this.zones(),
      evictions: { scheduled: due.length, firstAtMs: due.length === 0 ? undefined : first },
      history: this.#history('cluster'),
    };
  }

  #outageHold(): OutageHoldFacts | undefined {
    const { stages, clock } = this.#sources;
    const hold = stages.outage.hold();
    if (hold === undefined) return undefined;
    const { why, recovering, untilMs } = hold;
    return { why, recovering, untilMs: clock.monotonicMs() + untilMs - stages.sight.nowMs() };
  }

  /** Health has a clock of its own that stands still while we are blind: told on ours, as if we went on seeing. */
  #health(node: NodeView): HealthFacts | undefined {
    const { stages, clock, options } = this.#sources;
    const record = stages.health.get(node.name);
    if (record === undefined || record.uid !== node.uid) return undefined;
    const seenMs = stages.sight.nowMs();
    const { rule, graceMs } = graceOf(record, options);
    const heardAtMs = clock.monotonicMs() - (seenMs - record.heardAtMs);
    const silent = seenMs - record.heardAtMs > graceMs;
    return { heardAtMs, channel: record.channel, graceMs, rule, silent, silentFromMs: heardAtMs + graceMs + 1 };
  }

  #zone(zone: string): ZoneFacts {
    const { options, stages } = this.#sources;
    const reckoning = stages.zones.plan(zone)?.why;
    return {
      zone: zoneName(zone),
      condition: stages.zones.condition(zone),
      reckoning,
      line: this.#line(zone),
      recoveriesToNormal:
        reckoning === undefined ? undefined : deriveRecoveriesToNormal(reckoning, options.unhealthyZoneThreshold),
    };
  }

  #line(zone: string): LineFacts {
    const nowMs = this.#sources.clock.monotonicMs();
    const queue = this.#sources.stages.queues.get(zone);
    if (queue === undefined) return stopped;
    return {
      nodes: queue.keysInOrder(),
      tokens: queue.tokens(nowMs),
      nextTokenAtMs: queue.nextTokenAtMs(nowMs),
      ratePerSecond: queue.ratePerSecond,
    };
  }

  #rateAfterLoss(zone: string): number {
    const { options, stages } = this.#sources;
    const tallies = stages.zones.zones().flatMap((name): (readonly [string, ZoneTally])[] => {
      const why = stages.zones.plan(name)?.why;
      return why === undefined ? [] : [[name, why]];
    });
    return deriveRateAfterLoss(zone, new Map(tallies), options);
  }

  #brief(pod: PodView): PodBrief {
    const { tolerations, terminating } = pod;
    return { pod: podKey(pod), tolerations, terminating, appointment: this.#appointment(pod) };
  }

  #appointment(pod: PodView): AppointmentFacts | undefined {
    const leave = this.#sources.stages.evictor.appointment(podKey(pod));
    if (leave === undefined) return undefined;
    const { atMs, taint, toleratedSeconds } = leave;
    return { atMs, taint, toleratedSeconds };
  }

  #history(subject: string): readonly HistoryFact[] {
    return this.#sources.stages.decisions.of(subject).map(tell);
  }
}

function tell({ atMs, decision }: NotedDecision): HistoryFact {
  return { atMs, decision, text: describeDecision(decision) };
}

/** A pod and a zone can have the same key, as can a node and a zone without a region. */
function isOfPod({ decision }: HistoryFact): boolean {
  return 'pod' in decision || 'subject' in decision;
}

function isOfNode({ decision }: HistoryFact): boolean {
  return 'node' in decision || 'subject' in decision;
}

function informerFacts(informer: Pick<Informer<unknown>, 'name' | 'store' | 'status'>): InformerFacts {
  const { state, synced, lastFrameAtMs, consecutiveFailures, lastError } = informer.status();
  const { name, store } = informer;
  return { name, objects: store.size, state, synced, lastFrameAtMs, consecutiveFailures, lastError };
}
