// Everything that a seed decides before the run: the cluster, the faults, and who stays silent to the end.
import { SeededRandom } from '../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../src/simulator/cluster/cluster-plan.ts';
import { planCluster } from './cluster/plan-cluster.ts';
import { varyCluster } from './cluster/cluster-variants.ts';
import { between, chance, oneOf } from '../../src/simulator/draw.ts';
import { planDetect } from './faults/detect-plan.ts';
import { planFaults } from './faults/fault-plan.ts';
import { planFlapping } from './faults/flapping-plan.ts';
import { planLargeObjects } from './faults/large-objects.ts';
import { planMeetings } from './faults/meeting-plan.ts';
import { planNewerFeatures } from './faults/newer-features-plan.ts';
import { planPolicyFeatures } from './faults/policy-feature-plan.ts';
import { planEvictions, planPolicies } from './faults/policy-plan.ts';
import type { PlannedFault } from './faults/world-fault.ts';

export interface RunPlan {
  readonly seed: number;
  readonly cluster: ClusterPlan;
  readonly faults: readonly PlannedFault[];
  /** Faults begin after the first of these times and have ended at the second; a policy may last longer. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Nodes that become silent before the faults end and stay silent. In every zone a node stays ready. */
  readonly silent: readonly { readonly node: string; readonly atMs: number }[];
}

/** Registration and the first pass. */
const startMs = 30_000;

/** The plan of a seed: the same for the same seed. */
export function planRun(seed: number): RunPlan {
  const random = new SeededRandom(seed);
  const cluster = varyCluster(seed, planCluster(random));
  const untilMs = startMs + oneOf(random, [60_000, 180_000, 400_000]);
  const silent = planSilence(random, cluster, untilMs);
  const span = { fromMs: startMs, untilMs };
  const policies = planPolicies(seed, cluster, span);
  // Of two policies at once the later settings would replace the earlier ones.
  const flapping = policies.length === 0 ? planFlapping(seed, cluster, span) : [];
  const others = policies.length + flapping.length > 0;
  const features = others ? [] : planPolicyFeatures(seed, cluster, span, silent.length);
  const evictions = others || features.length > 0 ? [] : planEvictions(seed, cluster, span);
  const isPlain = !others && features.length === 0 && evictions.length === 0;
  const meetings = isPlain ? planMeetings(seed, cluster, span) : [];
  const detect = isPlain && meetings.length === 0 ? planDetect(seed, cluster, span) : [];
  const isFree = isPlain && meetings.length === 0 && detect.length === 0;
  const newer = isFree ? planNewerFeatures(seed, cluster, span) : [];
  const large = planLargeObjects(seed, cluster, span);
  const faults = [
    ...planFaults(random, cluster, span),
    ...policies,
    ...flapping,
    ...features,
    ...evictions,
    ...meetings,
    ...detect,
    ...newer,
    ...large,
  ];
  return {
    seed,
    cluster,
    faults: faults.sort((a, b) => a.atMs - b.atMs),
    fromMs: startMs,
    untilMs,
    silent,
  };
}

function planSilence(random: Random, { nodes }: ClusterPlan, untilMs: number): RunPlan['silent'] {
  const silent: { node: string; atMs: number }[] = [];
  for (const zone of new Set(nodes.map((node) => node.zone))) {
    const [first, second, ...rest] = nodes.filter((node) => node.zone === zone);
    const isSilent = chance(random, 0.5);
    const atMs = Math.round(between(random, startMs, untilMs));
    if (isSilent && first !== undefined && second !== undefined && rest.length > 0)
      silent.push({ node: first.name, atMs });
  }
  return silent;
}
