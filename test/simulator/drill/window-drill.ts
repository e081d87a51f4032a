// One of two silent nodes is in a window of its policy, which pauses it: what is due happens when the window ends.
import type { PolicySchedule } from '../../../src/controller/model/policy.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { drawNodes, type Drill, type DrillCluster, silenceOf, tailMs } from './drill-plan.ts';

const preparedMs = 2_000;
const minuteMs = 60_000;
/** From the end of the window to the taint and to the last deletion: a token of the zone, and the longest toleration. */
const taintedMs = 15_000;
const toleratedMs = 75_000;

export function planWindowDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const [node] = names;
  const lastsMs = cluster.graceMs + oneOf(random, [20_000, 40_000]);
  if (node === undefined || !cluster.clocksAgree) return undefined;
  const untilMs = 50 + lastsMs;
  const durationMs = untilMs + toleratedMs + tailMs;
  const policy = {
    ...makePolicy([node], 'Enforce'),
    schedules: [windowUntil(cluster.wallMs, cluster.wallMs + untilMs)],
  };
  const change = { policies: [policy] };
  const settings: PlannedFault = { atMs: 50, forMs: durationMs, fault: { kind: 'settings', change } };
  const acts = [settings, silenceOf(names, preparedMs, durationMs)];
  const taintedBy = { node, byMs: untilMs + taintedMs };
  return { name: 'window', acts, durationMs, stuck: [node], stuckMs: untilMs, paused: { node, untilMs }, taintedBy };
}

/** Began with the minute in which it is, and ends at this time. */
function windowUntil(wallMs: number, endMs: number): PolicySchedule {
  const startMs = Math.floor(wallMs / minuteMs) * minuteMs;
  const start = new Date(startMs);
  const cron = `${start.getUTCMinutes()} ${start.getUTCHours()} * * *`;
  return { cron, timeZone: 'UTC', durationMs: endMs - startMs, set: { mode: 'Paused' } };
}
