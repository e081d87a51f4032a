// A node of a policy with early warnings is silent: for a moment, or for so long that it becomes Unknown.
import type { Random } from '../../../src/machinery/ports/random.ts';
import { chance, oneOf } from '../../../src/simulator/draw.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { drawNodes, type Drill, type DrillCluster, silenceOf, tailMs } from './drill-plan.ts';

const preparedMs = 2_000;
/** A heartbeat may have been sent so long before the silence, and the next one so long after it. */
const renewalMs = 12_000;
/** More than a healthy node may go without a heartbeat. */
const afterMs = 15_000;

export function planEarlyWarningDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [node] = drawNodes(random, cluster);
  const { graceMs } = cluster;
  // A silence that is long enough for a warning, and too short to be Unknown.
  const briefMs = afterMs + 8_000;
  const isBrief = chance(random, 0.5);
  if (node === undefined || graceMs < (isBrief ? briefMs + renewalMs + 4_000 : afterMs + 4_000)) return undefined;
  const forMs = isBrief ? briefMs : graceMs + oneOf(random, [15_000, 40_000]);
  const durationMs = preparedMs + forMs + tailMs;
  const policy = { ...makePolicy([node], 'Enforce'), earlyWarning: { afterMs, annotate: true } };
  const settings: PlannedFault = {
    atMs: 50,
    forMs: durationMs,
    fault: { kind: 'settings', change: { policies: [policy] } },
  };
  const acts = [settings, silenceOf([node], preparedMs, forMs)];
  return { name: 'early-warning', acts, durationMs, stuck: [], warned: { node, afterMs } };
}
