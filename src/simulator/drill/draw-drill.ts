// Which drill a seed has. Newer drills have a random source of their own, so that most seeds keep the story that they had.
import { SeededRandom } from '../../kubelet/faults/seeded-random.ts';
import { chance, oneOf } from '../draw.ts';
import { type Drill, type DrillCluster, planDrill } from './drill-plan.ts';
import { planChurn } from './churn-drill.ts';
import { planLateAnswers, planLateRead, planStoppedTaints, planUnreadLease } from './write-drills.ts';

const newerShare = 0.3;
const newer = [planStoppedTaints, planUnreadLease, planLateAnswers, planLateRead, planChurn] as const;

/** Undefined where the cluster is too small for what was drawn. */
export function drawDrill(seed: number, cluster: DrillCluster): Drill | undefined {
  const random = new SeededRandom(seed ^ 0x2e_38);
  const isNewer = chance(random, newerShare);
  const plan = oneOf(random, newer);
  const older = isNewer ? undefined : planDrill(new SeededRandom(seed ^ 0xd1_11), cluster);
  return older ?? plan(random, cluster);
}
