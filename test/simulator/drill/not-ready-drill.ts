// A node reports that it is not ready, and its policy marks its pods after a time: once, whatever its kubelet reports of them then.
import type { Random } from '../../../src/machinery/ports/random.ts';
import { chance, oneOf } from '../../../src/simulator/draw.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { type Drill, type DrillCluster, tailMs } from './drill-plan.ts';
import type { DrillContext, DrillViolation } from './drill-context.ts';
import { seconds } from './due-times.ts';

const preparedMs = 2_000;
const afterMs = 20_000;
/** A kubelet reports a change of its health within this time. */
const reportedMs = 12_000;
/** A review every second, and a slot. */
const reviewedMs = 3_000;

export function planNotReadyPodsDrill(random: Random, { withPods }: DrillCluster): Drill | undefined {
  if (withPods.size === 0) return undefined;
  const node = oneOf(random, [...withPods].sort());
  const isBrief = chance(random, 0.3);
  const forMs = isBrief ? afterMs - 10_000 : afterMs + reportedMs + 40_000;
  const durationMs = preparedMs + forMs + tailMs;
  const policy = { ...makePolicy([node], 'Enforce'), markPodsOfNotReadyAfterMs: afterMs };
  const settings: PlannedFault = {
    atMs: 50,
    forMs: durationMs,
    fault: { kind: 'settings', change: { policies: [policy] } },
  };
  const fault = { kind: 'unhealthy', reason: 'the runtime is down' } as const;
  const acts: readonly PlannedFault[] = [
    settings,
    { atMs: preparedMs, forMs, fault: { kind: 'node', names: [node], fault } },
  ];
  return { name: 'not-ready-pods', acts, durationMs, stuck: [], notReady: { node, afterMs } };
}

/** Marks that came too early, late, or twice in one state of the node. */
export function findNotReadyViolations({ drill, record, slackMs, span }: DrillContext): readonly DrillViolation[] {
  const { node = '', afterMs: waitsMs = 0 } = drill.notReady ?? {};
  const { states = [] } = record.nodes.get(node) ?? {};
  const from = states.find(({ ready, atMs }) => ready === 'False' && atMs >= span.fromMs);
  if (from === undefined) return [];
  const untilMs = states.find(({ ready, atMs }) => ready !== 'False' && atMs > from.atMs)?.atMs ?? span.untilMs;
  const dueMs = from.atMs + waitsMs;
  const pods = [...record.pods.values()].filter(
    (pod) => pod.node === node && pod.createdMs <= from.atMs && pod.overMs === undefined,
  );
  return pods.flatMap(({ key: subject, readiness, deletion }) => {
    const marks = readiness.filter((each) => each.byController && !each.isReady && each.atMs >= from.atMs);
    const inTime = marks.filter(({ atMs }) => atMs <= untilMs);
    const byMs = dueMs + reviewedMs + slackMs;
    const wasReady = readiness.findLast(({ atMs }) => atMs <= dueMs)?.isReady === true;
    const isMissing =
      wasReady && byMs < Math.min(untilMs, deletion?.atMs ?? Infinity) && !inTime.some(({ atMs }) => atMs <= byMs);
    const early = inTime.find(({ atMs }) => atMs < dueMs - slackMs);
    return [
      ...(early === undefined
        ? []
        : [`marked at ${seconds(early.atMs)}, its node NotReady since ${seconds(from.atMs)}`]),
      ...(isMissing ? [`not marked at ${seconds(byMs)}, its node NotReady since ${seconds(from.atMs)}`] : []),
      ...(inTime.length > 1 ? [`marked ${inTime.length} times while its node is NotReady once`] : []),
    ].map((text) => ({ invariant: 'not-ready-marked-once', subject, text }));
  });
}
