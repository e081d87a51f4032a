// Which drill a seed has. Drills that were added later have random sources of their own, so that most
// seeds keep the story that they had.
import { SeededRandom } from '../../kubelet/faults/seeded-random.ts';
import { chance, oneOf } from '../draw.ts';
import { type Drill, type DrillCluster, type DrillPlan, planDrill } from './drill-plan.ts';
import { planChurn, planUnseenDeletions } from './churn-drill.ts';
import { planRateChange } from './rate-drill.ts';
import { planRefusedWrites } from './refused-writes-drill.ts';
import { planLateAnswers, planLateRead, planStoppedTaints, planUnreadLease } from './write-drills.ts';

const newerShare = 0.3;
const newer = [planStoppedTaints, planUnreadLease, planLateAnswers, planLateRead, planChurn] as const;
/** With this source the seeds for which `docs/simulator.md` or the regression seeds say what they find keep their drill. */
const newestSource = 0x4_ec_94;
const newestShare = 0.2;
const newest = [planRateChange, planRefusedWrites, planRefusedWrites, planUnseenDeletions] as const;

/** Undefined where the cluster is too small for what was drawn. */
export function drawDrill(seed: number, cluster: DrillCluster): Drill | undefined {
  return drawNewest(seed, cluster) ?? drawEarlier(seed, cluster);
}

function drawNewest(seed: number, cluster: DrillCluster): Drill | undefined {
  const random = new SeededRandom(seed ^ newestSource);
  const isNewest = chance(random, newestShare);
  const plan: DrillPlan = oneOf(random, newest);
  return isNewest ? plan(random, cluster) : undefined;
}

function drawEarlier(seed: number, cluster: DrillCluster): Drill | undefined {
  const random = new SeededRandom(seed ^ 0x2e_38);
  const isNewer = chance(random, newerShare);
  const plan: DrillPlan = oneOf(random, newer);
  const older = isNewer ? undefined : planDrill(new SeededRandom(seed ^ 0xd1_11), cluster);
  return older ?? plan(random, cluster);
}
