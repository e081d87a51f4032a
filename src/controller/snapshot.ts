// The state of all stages at this moment, read and never changed: what `explain/` explains. Nothing is remembered here.
import type { NodeView } from '../api/node.ts';
import { objectKey } from '../api/object-key.ts';
import { nodeLeaseNamespace } from '../api/resources.ts';
import { podKey, type PodView } from '../api/pod.ts';
import { isExcludedFromDisruption, zoneOf } from '../api/topology.ts';
import { zoneName } from '../api/zone.ts';
import type { Informer } from '../informer/informer.ts';
import type { NotedDecision } from './decision-log.ts';
import { deriveRateAfterLoss, deriveRecoveriesToNormal } from './derive-hypotheses.ts';
import { deriveTaintFacts } from './derive-taint-facts.ts';
import { describeDecision } from './describe-decision.ts';
import { podsByNode } from './eviction/taint-evictor.ts';
import { EvictionSnapshot } from './eviction-snapshot.ts';
import type {
  AppointmentFacts,
  Circumstances,
  HealthFacts,
  HistoryFact,
  InformerFacts,
  LineFacts,
  Mode,
  NodeFacts,
  OutageHoldFacts,
  PodBrief,
  PodFacts,
  StatusFacts,
  ZoneFacts,
} from './explain/facts.ts';
import { graceOf, readyOf } from './health/assess-node.ts';
import { runningParts } from './options.ts';
import { PodGcSnapshot } from './pod-gc-snapshot.ts';
import { onOurClock, recordOf, type SnapshotSources } from './snapshot-sources.ts';
import type { ZoneTally } from './zones/classify-zone.ts';

/** What an explanation is made from. Unknown names answer undefined. */
export interface Snapshot {
  circumstances(): Circumstances;
  node(name: string): NodeFacts | undefined;
  pod(namespace: string, name: string): PodFacts | undefined;
  zones(): readonly ZoneFacts[];
  status(): StatusFacts;
}

const stopped: LineFacts = { nodes: [], tokens: 0, nextTokenAtMs: Infinity, ratePerSecond: 0 };

/** The snapshot of a running controller: every call looks anew, at the cost of what it looks at. */
export class LiveSnapshot implements Snapshot {
  readonly #sources: SnapshotSources;
  /** Undefined in taint mode. */
  readonly #eviction: EvictionSnapshot | undefined;
  readonly #podGc: PodGcSnapshot;

  constructor(sources: SnapshotSources) {
    const { podEvictor } = sources.stages;
    this.#sources = sources;
    this.#eviction = podEvictor && new EvictionSnapshot(sources, podEvictor);
    this.#podGc = new PodGcSnapshot(sources);
  }

  circumstances(): Circumstances {
    const { clock, leadership, holder, stages, controllers, options } = this.#sources;
    return {
      now: { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() },
      leading: leadership.holds(),
      shadow: this.#sources.shadow === true,
      holder: holder(),
      mode: this.#mode,
      runs: runningParts(controllers, options),
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
      taints: deriveTaintFacts(node, ready, { mode: this.#mode, everyZoneDark }),
      eviction: this.#eviction?.of(node),
      zone: this.#zone(zone),
      ratePerSecondIfSilent: counted && ready === 'True' ? this.#rateAfterLoss(zone) : this.#line(zone).ratePerSecond,
      pods: this.#sources.informers.pods.store.byIndex(podsByNode, name).map((pod) => this.#brief(pod)),
      flaws: [...(node.flaws ?? []), ...this.#flawsOfLease(name)],
      history: this.#history(name).filter(isOfNode),
    };
  }

  pod(namespace: string, name: string): PodFacts | undefined {
    const { informers, stages } = this.#sources;
    const pod = informers.pods.store.get(objectKey(namespace, name));
    if (pod === undefined) return undefined;
    const node = this.node(pod.nodeName);
    return {
      ...this.#brief(pod),
      nodeName: pod.nodeName,
      phase: pod.phase,
      running: stages.evictor.runningTaints(pod.nodeName),
      node,
      lineOfLostNode: node === undefined ? this.#lineOfLost(pod.nodeName) : undefined,
      collection: this.#podGc.of(pod),
      flaws: pod.flaws ?? [],
      history: this.#historyOfPod(pod, node),
    };
  }

  /** By name. */
  zones(): readonly ZoneFacts[] {
    return this.#sources.stages.zones.zones().map((zone) => this.#zone(zone));
  }

  status(): StatusFacts {
    const { stages, controllers } = this.#sources;
    const due = [...stages.evictor.scheduled().values()];
    const first = due.reduce((earliest, atMs) => Math.min(earliest, atMs), Infinity);
    return {
      configFile: this.#sources.configFile?.(),
      informers: this.#informers(),
      zones: this.zones(),
      evictions: { scheduled: due.length, firstAtMs: due.length === 0 ? undefined : first },
      evictedNodes: this.#eviction?.nodes(),
      podGc: controllers.podGc ? this.#podGc.all() : undefined,
      history: this.#history('cluster'),
    };
  }

  get #mode(): Mode {
    return this.#eviction === undefined ? 'taint' : 'eviction';
  }

  #informers(): readonly InformerFacts[] {
    const { nodes, leases, pods, daemonSets } = this.#sources.informers;
    const informers = [nodes, leases, pods].map((informer) => informerFacts(informer));
    return daemonSets === undefined ? informers : [...informers, informerFacts(daemonSets)];
  }

  #lineOfLost(node: string): ZoneFacts | undefined {
    const zone = this.#eviction && this.#sources.stages.queues.zoneOf(node);
    return zone === undefined ? undefined : this.#zone(zone);
  }

  #outageHold(): OutageHoldFacts | undefined {
    const hold = this.#sources.stages.outage.hold();
    if (hold === undefined) return undefined;
    const { why, recovering, untilMs } = hold;
    return { why, recovering, untilMs: onOurClock(untilMs, this.#sources) };
  }

  #health(node: NodeView): HealthFacts | undefined {
    const { stages, options } = this.#sources;
    const record = recordOf(node, this.#sources);
    if (record === undefined) return undefined;
    const { rule, graceMs } = graceOf(record, options);
    const heardAtMs = onOurClock(record.heardAtMs, this.#sources);
    const silent = stages.sight.nowMs() - record.heardAtMs > graceMs;
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
    const fate = this.#eviction?.fateOf(pod) ?? { terminating, daemonSet: undefined };
    return { pod: podKey(pod), tolerations, appointment: this.#appointment(pod), ...fate };
  }

  #appointment(pod: PodView): AppointmentFacts | undefined {
    const leave = this.#sources.stages.evictor.appointment(podKey(pod));
    if (leave === undefined) return undefined;
    const { atMs, taint, toleratedSeconds } = leave;
    return { atMs, taint, toleratedSeconds };
  }

  /** What became of a node that is not known is told with its pods: it has no page of its own. */
  #flawsOfLease(node: string): readonly string[] {
    const lease = this.#sources.informers.leases.store.get(objectKey(nodeLeaseNamespace, node));
    return (lease?.flaws ?? []).map((flaw) => `lease ${flaw}`);
  }

  #historyOfPod(pod: PodView, node: NodeFacts | undefined): readonly HistoryFact[] {
    const own = this.#history(podKey(pod)).filter(isOfPod);
    if (node !== undefined || pod.nodeName === '') return own;
    return [...own, ...this.#history(pod.nodeName).filter(isOfNode)].sort((a, b) => a.atMs - b.atMs);
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
