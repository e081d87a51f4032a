// Clusters that few seeds have: other modes of the controller, other numbers of writes at once, many nodes, replicas that get
// changed settings one after another. They have random sources of their own, so that the other seeds have the cluster that
// they had before.
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { chance, oneOf, wholeBetween } from '../../../src/simulator/draw.ts';
import type { ClusterPlan, ControllerMode } from '../../../src/simulator/cluster/cluster-plan.ts';
import { zoneNames } from './plan-cluster.ts';

interface Variant {
  /**
   * Seed of its random source. With these the seeds for which `docs/simulator.md` or the regression seeds say what they find have
   * no variant.
   */
  readonly source: number;
  readonly share: number;
  readonly vary: (random: Random, cluster: ClusterPlan) => ClusterPlan;
}

const nodesMax = 60;

const variants: readonly Variant[] = [
  { source: 0x2_45_8d, share: 0.06, vary: varyMode },
  { source: 0x2_45_a2, share: 0.03, vary: addShadow },
  { source: 0x2_49_87, share: 0.1, vary: varyWrites },
  { source: 0x2_49_8a, share: 0.01, vary: addNodes },
  { source: 0x2_53_07, share: 0.05, vary: delaySettings },
  { source: 0x2_60_52, share: 0.02, vary: readNamespaces },
];

export function varyCluster(seed: number, plan: ClusterPlan): ClusterPlan {
  return variants.reduce((cluster, { source, share, vary }) => {
    const random = new SeededRandom(seed ^ source);
    return chance(random, share) ? vary(random, cluster) : cluster;
  }, plan);
}

function varyMode(random: Random, cluster: ClusterPlan): ClusterPlan {
  const mode = oneOf<ControllerMode>(random, ['detector', 'evictor', 'deleter', 'deleter']);
  const podEvictionTimeoutMs = oneOf(random, [20_000, 60_000]);
  const controller = { ...cluster.controller, taintBasedEvictions: mode !== 'deleter', podEvictionTimeoutMs };
  return { ...cluster, mode, controller };
}

/** Eviction mode has no shadow, and a process that does a part has nothing to be compared with. */
function addShadow(_random: Random, cluster: ClusterPlan): ClusterPlan {
  return cluster.mode === undefined ? { ...cluster, hasShadow: true } : cluster;
}

function varyWrites(random: Random, cluster: ClusterPlan): ClusterPlan {
  return { ...cluster, concurrentWrites: oneOf(random, [1, 2, 40]) };
}

/** With a pod each at most: it is the number of nodes that differs. */
function addNodes(random: Random, cluster: ClusterPlan): ClusterPlan {
  const zones = new Set(cluster.nodes.map(({ zone }) => zone)).size;
  const nodes = Array.from({ length: wholeBetween(random, 20, nodesMax) }, (_, index) => ({
    name: `n${index + 1}`,
    zone: zoneNames[index % zones] ?? 'a',
  }));
  return { ...cluster, nodes, podsPerNode: Math.min(1, cluster.podsPerNode) };
}

function readNamespaces(_random: Random, cluster: ClusterPlan): ClusterPlan {
  return { ...cluster, namespaceAutonomy: true };
}

function delaySettings(random: Random, cluster: ClusterPlan): ClusterPlan {
  return { ...cluster, settingsLagMsMax: oneOf(random, [2_000, 20_000]) };
}
