// The cluster and its settings, drawn from a seed.
import { type ControllerOptions, defaultControllerOptions } from '../../../src/controller/model/options.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf, wholeBetween } from '../../../src/simulator/draw.ts';

export const zoneNames = ['a', 'b', 'c'] as const;

/** Small clusters: what is wrong shows with few nodes, and small ones run fast. */
export function planCluster(random: Random): ClusterPlan {
  const zones = wholeBetween(random, 1, 3);
  const nodeCount = wholeBetween(random, 2, 12);
  return {
    nodes: Array.from({ length: nodeCount }, (_, index) => ({
      name: `n${index + 1}`,
      zone: zoneNames[index % zones] ?? 'a',
    })),
    podsPerNode: wholeBetween(random, 0, 4),
    replicas: wholeBetween(random, 1, 3),
    servers: wholeBetween(random, 1, 3),
    controller: planOptions(random),
    watchCanary: chance(random, 0.5),
    limits: oneOf(random, [
      { qps: 5, burst: 5 },
      { qps: 5, burst: 10 },
      { qps: 20, burst: 30 },
    ]),
    latencyMs: oneOf(random, [
      { min: 0.2, max: 2 },
      { min: 1, max: 30 },
      { min: 0.5, max: 300 },
    ]),
    lagMsMax: oneOf(random, [0, 5, 200]),
    driftMax: oneOf(random, [0, 1e-4]),
  };
}

/** Rates are raised, so that queues empty within the run. */
function planOptions(random: Random): ControllerOptions {
  const nodeMonitorGracePeriodMs = oneOf(random, [50_000, 40_000, 24_000]);
  return {
    ...defaultControllerOptions,
    nodeMonitorGracePeriodMs,
    nodeStartupGracePeriodMs: oneOf(random, [60_000, 30_000]),
    nodeMonitorPeriodMs: oneOf(random, [5_000, 1_000]),
    nodeEvictionRate: oneOf(random, [0.1, 0.5, 5]),
    podMarkingRate: oneOf(random, [10, 1]),
    leaseConfirmationHoldMs: oneOf(random, [60_000, 20_000]),
    staleWatchHoldMs: oneOf(random, [60_000, 20_000]),
    controlPlanePathFailureHoldMs: oneOf(random, [undefined, 0, between(random, 5_000, 60_000)]),
  };
}
