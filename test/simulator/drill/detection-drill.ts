// A node of a policy with early detection stops sending heartbeats: its machine is off, or only its kubelet is stopped.
import type { Fault } from '../../../src/hollow-cluster/kubelet/faults/fault.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { chance, oneOf } from '../../../src/simulator/draw.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { drawNodes, type Drill, type DrillCluster, tailMs } from './drill-plan.ts';

/** The controller has received a heartbeat of each node. */
const preparedMs = 15_000;
const earliestMs = 15_000;

export function planDetectionDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [node] = drawNodes(random, cluster);
  const { graceMs, replicas } = cluster;
  const isOff = chance(random, 0.5);
  const probes = oneOf(random, [['kubelet'], ['kubelet', 'pods']] as const);
  const forMs = graceMs + oneOf(random, [-10_000, 15_000, 40_000]);
  // Nodes that are alive are asked too, and a second replica reports to the leader.
  if (node === undefined || cluster.nodes.length < 3 || graceMs < earliestMs + 10_000) return undefined;
  const durationMs = preparedMs + forMs + tailMs;
  const limits = { maxUnhealthy: { percent: undefined, count: 1 }, cooldownMs: 1_000, resetAtMs: undefined };
  const policy = { ...makePolicy([node], 'Enforce'), detection: { earliestMs, probes }, limits };
  const settings: PlannedFault = {
    atMs: 50,
    forMs: durationMs,
    fault: { kind: 'settings', change: { policies: [policy] } },
  };
  const fault: Fault = { kind: 'crash', of: isOff ? 'machine' : 'process', downMs: forMs };
  const acts: readonly PlannedFault[] = [
    settings,
    { atMs: preparedMs, forMs, fault: { kind: 'node', names: [node], fault } },
  ];
  // Where pods are asked too, nodes that are alive must have some.
  const isInTime = replicas > 1 && probes.length === 1;
  const proven = isOff ? { proven: { node, earliestMs, isInTime } } : {};
  return { name: isOff ? 'early-detection' : 'no-early-detection', acts, durationMs, stuck: [], ...proven };
}
