// Which drill a seed has. Drills that were added later have random sources of their own, so that most
// seeds keep the story that they had.
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { chance, oneOf } from '../../../src/simulator/draw.ts';
import { type Drill, type DrillCluster, type DrillPlan, planDrill } from './drill-plan.ts';
import { planDetectDrill, planNamespaceDrill } from './detect-drill.ts';
import { planChurn, planUnseenDeletions } from './churn-drill.ts';
import {
  planBudgetDrill,
  planCooldownDrill,
  planDeletionRateDrill,
  planDeniedDeletionsDrill,
  planEqualClaimsDrill,
  planFlappingDrill,
  planLostVerbDrill,
  planOldMaintenanceDrill,
  planPauseDrill,
  planPlacesDrill,
} from './meeting-drills.ts';
import { planFencingDrill, planMaintenanceDrill, planRateChange, planZonesDrill } from './policy-drills.ts';
import { planTwoPathFailures, planTwoRenewals, planTwoUnreadLeases } from './repeated-drills.ts';
import { planDetectionDrill } from './detection-drill.ts';
import { planCollectionDrill } from './collection-drill.ts';
import { planEarlyWarningDrill } from './early-warning-drill.ts';
import { planNotReadyPodsDrill } from './not-ready-drill.ts';
import { planOverflowDrill } from './overflow-drill.ts';
import { planStuckPodsDrill } from './stuck-pods-drill.ts';
import { planWindowDrill } from './window-drill.ts';
import {
  planLateAnswers,
  planLateRead,
  planRefusedWrites,
  planStoppedTaints,
  planUnreadLease,
} from './write-drills.ts';

const newerShare = 0.3;
const newer = [planStoppedTaints, planUnreadLease, planLateAnswers, planLateRead, planChurn] as const;
/** With this source the seeds for which `docs/simulator.md` or the regression seeds say what they find keep their drill. */
const newestSource = 0x4_ec_94;
const newestShare = 0.2;
const newest = [planRateChange, planRefusedWrites, planRefusedWrites, planUnseenDeletions] as const;
/** Seed of the random source of drills with a policy. */
const policySource = 0x14_61;
const policyShare = 0.1;
const ofPolicies = [planMaintenanceDrill, planZonesDrill, planFencingDrill] as const;

/** Seed of the random source of drills in which features meet. */
const meetingSource = 0x2_45_62;
const meetingShare = 0.12;
const ofMeetings = [
  planBudgetDrill,
  planPlacesDrill,
  planCooldownDrill,
  planPauseDrill,
  planOldMaintenanceDrill,
  planEqualClaimsDrill,
  planPlacesDrill,
  planDeletionRateDrill,
  planFlappingDrill,
  planLostVerbDrill,
] as const;

/** Seed of the random source of drills that repeat something; with it the seeds that say what they find keep their drill. */
const repeatedSource = 0x1_bb;
const repeatedShare = 0.05;
const ofRepetitions = [
  planTwoUnreadLeases,
  planTwoRenewals,
  planTwoPathFailures,
  planTwoPathFailures,
  planTwoPathFailures,
] as const;

/** Seed of the random source of drills with mode Detect; with it the seeds that say what they find keep their drill. */
const detectSource = 0x6_03;
const detectShare = 0.03;

/** Seed of the random source of drills with a window of a schedule; with it the seeds that say what they find keep their drill. */
const windowSource = 0x7_01;
const windowShare = 0.02;

/** Seed of the random source of drills beyond a limit; with it the seeds that say what they find keep their drill. */
const overflowSource = 0x7_86;
const overflowShare = 0.02;

/** Seed of the random source of drills with early warnings; with it the seeds that say what they find keep their drill. */
const warningSource = 0x8_04;
const warningShare = 0.02;

/** Seed of the random source of drills with denied deletions; with it the seeds that say what they find keep their drill. */
const deniedSource = 0x9_02;
const deniedShare = 0.02;

/** Seed of the random source of drills with early detection; with it the seeds that say what they find keep their drill. */
const detectionSource = 0xa_03;
const detectionShare = 0.03;

/** Seed of the random source of drills with nodes that report NotReady; with it the seeds that say what they find keep their drill. */
const notReadySource = 0xb_03;
const notReadyShare = 0.02;

/** Seed of the random source of drills with pods that complete or never end; with it the seeds that say what they find keep their drill. */
const endedPodsSource = 0xc_02;
const endedPodsShare = 0.02;

/** Undefined where the cluster is too small for what was drawn. */
export function drawDrill(seed: number, cluster: DrillCluster): Drill | undefined {
  // Few clusters have them, and no other drill needs them.
  if (cluster.namespaceAutonomy) return planNamespaceDrill(new SeededRandom(seed ^ detectSource), cluster);
  return (
    drawFrom(
      new SeededRandom(seed ^ endedPodsSource),
      endedPodsShare,
      [planCollectionDrill, planStuckPodsDrill],
      cluster,
    ) ??
    drawFrom(new SeededRandom(seed ^ notReadySource), notReadyShare, [planNotReadyPodsDrill], cluster) ??
    drawFrom(new SeededRandom(seed ^ detectionSource), detectionShare, [planDetectionDrill], cluster) ??
    drawFrom(new SeededRandom(seed ^ deniedSource), deniedShare, [planDeniedDeletionsDrill], cluster) ??
    drawFrom(new SeededRandom(seed ^ warningSource), warningShare, [planEarlyWarningDrill], cluster) ??
    drawFrom(new SeededRandom(seed ^ overflowSource), overflowShare, [planOverflowDrill], cluster) ??
    drawFrom(new SeededRandom(seed ^ windowSource), windowShare, [planWindowDrill], cluster) ??
    drawFrom(new SeededRandom(seed ^ detectSource), detectShare, [planDetectDrill], cluster) ??
    drawFrom(new SeededRandom(seed ^ repeatedSource), repeatedShare, ofRepetitions, cluster) ??
    drawFrom(new SeededRandom(seed ^ meetingSource), meetingShare, ofMeetings, cluster) ??
    drawFrom(new SeededRandom(seed ^ policySource), policyShare, ofPolicies, cluster) ??
    drawFrom(new SeededRandom(seed ^ newestSource), newestShare, newest, cluster) ??
    drawEarlier(seed, cluster)
  );
}

function drawFrom(
  random: Random,
  share: number,
  plans: readonly DrillPlan[],
  cluster: DrillCluster,
): Drill | undefined {
  const isChosen = chance(random, share);
  const plan = oneOf(random, plans);
  return isChosen ? plan(random, cluster) : undefined;
}

function drawEarlier(seed: number, cluster: DrillCluster): Drill | undefined {
  const random = new SeededRandom(seed ^ 0x2e_38);
  const isNewer = chance(random, newerShare);
  const plan: DrillPlan = oneOf(random, newer);
  const older = isNewer ? undefined : planDrill(new SeededRandom(seed ^ 0xd1_11), cluster);
  return older ?? plan(random, cluster);
}
