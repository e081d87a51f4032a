// Drills with a policy: planned maintenance, zones of a policy, fenced nodes.
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { fencedCondition, fencedTaint, maintenanceCondition, maintenanceTaint } from '../faults/administrator.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { zoneLabel } from '../../../src/simulator/node-fields.ts';
import { drawNodes, type Drill, type DrillCluster, silenceOf, tailMs } from './drill-plan.ts';

/** The policy is in force, and labels are known. */
const preparedMs = 2_000;
/** By then a node that is silent from the beginning is Unknown, and has its taints unless something holds them. */
const taintedMs = 15_000;
/** Rate that is so slow that a second node of one zone is late. */
const slowRate = 0.02;
const rackLabel = 'example.com/rack';

/**
 * One of two silent nodes is in planned maintenance: it gets no NoExecute taint and keeps its pods until the maintenance is
 * ended or its maximum is over.
 */
export function planMaintenanceDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const [node] = names;
  const { graceMs, clocksAgree } = cluster;
  const lastsMs = graceMs + oneOf(random, [10_000, 40_000]);
  const isEnded = oneOf(random, [false, true]);
  // The maximum counts from the time in the signal, by the clock of the leader: without such a time from when it is first seen.
  const signal = clocksAgree ? oneOf(random, ['condition', 'taint', 'plain'] as const) : 'plain';
  if (node === undefined) return undefined;
  const untilMs = preparedMs + lastsMs;
  const durationMs = untilMs + 60_000 + tailMs;
  const maxDurationMs = isEnded ? durationMs : lastsMs;
  const maintenance = { conditions: [maintenanceCondition], taints: [maintenanceTaint], maxDurationMs };
  const begin: PlannedFault = {
    atMs: preparedMs,
    forMs: isEnded ? lastsMs : durationMs,
    fault: { kind: 'maintenance', node, signal },
  };
  const acts = [
    inForce(names, { maintenance }, durationMs),
    begin,
    silenceOf(names, preparedMs + 100, durationMs - tailMs - preparedMs - 100),
  ];
  return { name: 'maintenance', acts, durationMs, stuck: [], maintenance: { node, untilMs } };
}

/**
 * Two nodes of one zone are silent, with a rate so slow that the second taint would be late: in racks of their own none of
 * them waits for the other. Or both are in the zone of a policy whose rate is slower than that of the controller, or in racks
 * of such a policy whose outer zone has both.
 */
export function planZonesDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = twoOfOneZone(random, cluster);
  const hasRacks = oneOf(random, [false, true]);
  if (names === undefined) return undefined;
  const hasOuter = hasRacks && oneOf(random, [false, true]);
  const silentMs = cluster.graceMs + taintedMs + 40_000;
  const durationMs = silentMs + tailMs;
  const areApart = hasRacks && !hasOuter;
  const zones = {
    failureDomain: hasRacks ? [rackLabel] : undefined,
    ...(hasOuter ? { outerFailureDomain: [zoneLabel] } : {}),
    settings: { nodeEvictionRate: areApart ? slowRate : 0.1 },
  };
  const others: PlannedFault = {
    atMs: 40,
    forMs: durationMs,
    fault: { kind: 'settings', change: { nodeEvictionRate: areApart ? slowRate : 5 } },
  };
  const racks = names.map((node, index): PlannedFault => {
    return { atMs: 50, forMs: 1, fault: { kind: 'label', node, key: rackLabel, value: `r${index}` } };
  });
  const acts = [others, inForce(names, { zones }, durationMs), ...racks, silenceOf(names, preparedMs, silentMs)];
  return { name: 'policy-zones', acts, durationMs, stuck: [], ...(areApart ? { ownZones: names } : {}) };
}

/**
 * A machine is switched off, and a fencing agent says so before or after its taints, of this boot or of another one. The
 * evidence may be left on the node, which is then partitioned in its next boot.
 */
export function planFencingDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [node] = drawNodes(random, cluster);
  const evidence = oneOf(random, ['annotation', 'condition', 'taint'] as const);
  const boot = evidence === 'annotation' ? oneOf(random, ['this', 'this', 'another'] as const) : 'this';
  const afterMs = oneOf(random, [1_000, cluster.graceMs + taintedMs]);
  const isLeft = oneOf(random, [false, true]);
  // The condition is compared with the last status of the kubelet, whose clock may differ from that of the agent.
  if (node === undefined || (evidence === 'condition' && !cluster.clocksAgree)) return undefined;
  const downMs = cluster.graceMs + 60_000;
  const backMs = preparedMs + downMs + 20_000;
  const partitionedMs = isLeft ? downMs : 0;
  const durationMs = backMs + partitionedMs + tailMs;
  const outOfService = { conditions: [fencedCondition], taints: [fencedTaint] };
  const allowed: PlannedFault = {
    atMs: 50,
    forMs: 1,
    fault: { kind: 'label', node, key: outOfServiceLabel, value: 'allowed' },
  };
  const fencing: PlannedFault = {
    atMs: preparedMs,
    forMs: downMs,
    fault: { kind: 'fencing', node, evidence, boot, afterMs, isLeft },
  };
  const later = isLeft ? [silenceOf([node], backMs, partitionedMs)] : [];
  const acts = [inForce([node], { outOfService }, durationMs), allowed, fencing, ...later];
  const fenced = { node, provenMs: boot === 'this' ? preparedMs + afterMs : Infinity };
  return { name: 'fencing', acts, durationMs, stuck: [], fenced };
}

function inForce(nodes: readonly string[], fields: Partial<NodePolicy>, forMs: number): PlannedFault {
  const policies = [{ ...makePolicy(nodes, 'Enforce'), ...fields }];
  return { atMs: 50, forMs, fault: { kind: 'settings', change: { policies } } };
}

/** Slow, so that the gap between two taints is long compared with the tolerance of the check. */
const rates = [0.1, 0.125] as const;
const changeMs = 3_000;
/** From before the first of the nodes may become Unknown until the second one has waited for its token. */
const beforeMs = 12_000;
const afterMs = 15_000;
/** The second taint, at the last rate. */
const lastTaintMs = 25_000;

/**
 * The rate of NoExecute taints changes every few seconds while two nodes of one zone become silent: between the two
 * taints it changes at least once, right after the only token was spent.
 */
export function planRateChange(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = twoOfOneZone(random, cluster);
  if (names === undefined) return undefined;
  const { graceMs } = cluster;
  const untilMs = graceMs + afterMs;
  const durationMs = untilMs + lastTaintMs + tailMs;
  const count = Math.ceil((beforeMs + afterMs) / changeMs);
  // Each change lasts to the end: the latest one is in force.
  const changes = Array.from({ length: count }, (_, index): PlannedFault => {
    const change = { nodeEvictionRate: rates[index % rates.length] ?? rates[0] };
    return { atMs: graceMs - beforeMs + index * changeMs, forMs: durationMs, fault: { kind: 'settings', change } };
  });
  const acts = [...changes, silenceOf(names, 100, durationMs)];
  return { name: 'rate-change', acts, durationMs, stuck: [], ratesUntilMs: untilMs };
}

/** Two nodes of a zone that is not disrupted without them. */
function twoOfOneZone(random: Random, { nodes, silentIn }: DrillCluster): readonly string[] | undefined {
  const zones = [...Map.groupBy(nodes, ({ zone }) => zone)].filter(
    ([zone, members]) => members.length >= 3 && (silentIn.get(zone) ?? 0) === 0,
  );
  if (zones.length === 0) return undefined;
  const [, members] = oneOf(random, zones);
  return members.slice(0, 2).map(({ name }) => name);
}
