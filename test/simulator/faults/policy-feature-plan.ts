// Policies with planned maintenance, zones of their own or fenced nodes, and what administrators and fencing agents do with
// them while the faults last. Each feature has a random source of its own, and a seed has one of them at most.
import type { NodePolicy, PolicyZones } from '../../../src/controller/model/policy.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf } from '../../../src/simulator/draw.ts';
import { zoneLabel } from '../../../src/simulator/node-fields.ts';
import { fencedCondition, fencedTaint, maintenanceCondition, maintenanceTaint } from './administrator.ts';
import { makePolicy, type Span } from './policy-plan.ts';
import type { PlannedFault } from './world-fault.ts';

/** With these sources the seeds for which `docs/simulator.md` or the regression seeds say what they find have none of them. */
const maintenanceSource = 0x3_12;
const zonesSource = 0x3_33;
const fencingSource = 0x3_41;
const share = 0.05;
const rackLabel = 'example.com/rack';
/** Maximum number of silent nodes: so few unready ones never stop the NoExecute taints of a zone. */
const silentMax = 2;
/** To the end of the run: until the drill begins. */
const forEverMs = 36_000_000;

type Names = readonly string[];

/** None for most seeds. `silent`: how many nodes stay silent to the end. */
export function planPolicyFeatures(
  seed: number,
  { nodes }: ClusterPlan,
  span: Span,
  silent: number,
): readonly PlannedFault[] {
  const names = nodes.map(({ name }) => name);
  const features = [
    { source: maintenanceSource, plan: planMaintenance },
    { source: zonesSource, plan: planZones },
    { source: fencingSource, plan: planFencing },
  ];
  for (const { source, plan } of features) {
    const random = new SeededRandom(seed ^ source);
    if (chance(random, share)) return plan(random, names, span, silent);
  }
  return [];
}

/** Administrators begin maintenances, and some of their nodes are silent meanwhile. Some are never ended: the maximum ends them. */
function planMaintenance(random: Random, names: Names, span: Span): readonly PlannedFault[] {
  const chosen = names.filter(() => chance(random, 0.8));
  const maxDurationMs = oneOf(random, [30_000, 90_000, 200_000]);
  const isKept = chance(random, 0.4);
  const maintenance = { conditions: [maintenanceCondition], taints: [maintenanceTaint], maxDurationMs };
  const episodes = chosen.flatMap((node): readonly PlannedFault[] => {
    const { atMs, forMs } = drawTime(random, span);
    const signal = oneOf(random, ['condition', 'taint', 'plain'] as const);
    const isSilent = chance(random, 0.8);
    const isLeft = chance(random, 0.5) && isKept;
    const begin: PlannedFault = {
      atMs,
      forMs: isLeft ? forEverMs : forMs,
      fault: { kind: 'maintenance', node, signal },
    };
    return isSilent ? [begin, partition(node, { atMs, forMs })] : [begin];
  });
  return [...inForce(chosen, { maintenance }, span, isKept), ...episodes];
}

/** Nodes get labels of racks, and a policy has zones of its own, with rates that empty the queues within the run. */
function planZones(random: Random, names: Names, span: Span, silent: number): readonly PlannedFault[] {
  const chosen = names.filter(() => chance(random, 0.7));
  const domains = [undefined, [zoneLabel], [rackLabel], [zoneLabel, rackLabel], ['kubernetes.io/os']];
  const failureDomain = oneOf<PolicyZones['failureDomain']>(random, domains);
  const zones: PolicyZones = {
    failureDomain,
    settings: {
      nodeEvictionRate: oneOf(random, [0.1, 0.5, 5]),
      unhealthyZoneThreshold: oneOf(random, [0.3, 0.55, 1]),
      podMarkingRate: oneOf(random, [1, 10]),
    },
  };
  const racks = names.map((node) => label(node, rackLabel, oneOf(random, ['r1', 'r2', '']), span.fromMs));
  const isKept = chance(random, 0.6) && silent <= silentMax;
  const hasOuter = failureDomain?.includes(zoneLabel) === false && chance(random, 0.5);
  const levels = hasOuter ? { ...zones, outerFailureDomain: [zoneLabel] } : zones;
  return [...inForce(chosen, { zones: levels }, span, isKept), ...racks];
}

/**
 * Machines are switched off, and a fencing agent says so, sometimes of another boot. Where the evidence stays on a node that
 * boots again, that node is partitioned later.
 */
function planFencing(random: Random, names: Names, span: Span): readonly PlannedFault[] {
  const rule = { conditions: [fencedCondition], taints: [fencedTaint] };
  const allowed = names.filter(() => chance(random, 0.8));
  const fencings = names.flatMap((node): readonly PlannedFault[] => {
    const { atMs, forMs } = drawTime(random, span);
    const evidence = oneOf(random, ['annotation', 'annotation', 'condition', 'taint'] as const);
    const boot = oneOf(random, ['this', 'this', 'another'] as const);
    const afterMs = Math.round(between(random, 0, forMs / 2));
    const isFenced = chance(random, 0.7);
    const isLeft = chance(random, 0.5);
    if (!isFenced) return [];
    const fencing: PlannedFault = {
      atMs,
      forMs,
      fault: { kind: 'fencing', node, evidence, boot, afterMs, isLeft },
    };
    return isLeft
      ? [fencing, partition(node, drawTime(random, { fromMs: atMs + forMs, untilMs: span.untilMs }))]
      : [fencing];
  });
  const labels = allowed.map((node) => label(node, outOfServiceLabel, 'allowed', span.fromMs));
  return [...inForce(names, { outOfService: rule }, span, chance(random, 0.5)), ...labels, ...fencings];
}

function drawTime(random: Random, { fromMs, untilMs }: Span): { readonly atMs: number; readonly forMs: number } {
  const atMs = Math.round(between(random, fromMs, untilMs));
  const forMs = Math.round(between(random, 0, untilMs - atMs));
  return { atMs, forMs };
}

function partition(node: string, { atMs, forMs }: ReturnType<typeof drawTime>): PlannedFault {
  const fault = { kind: 'partition', direction: 'all', manner: 'silent' } as const;
  return { atMs, forMs, fault: { kind: 'node', names: [node], fault } };
}

function label(node: string, key: string, value: string, atMs: number): PlannedFault {
  return { atMs, forMs: 1, fault: { kind: 'label', node, key, value } };
}

/** The policy of these nodes, from the beginning of the faults to their end, or until the drill. */
function inForce(
  chosen: Names,
  fields: Partial<NodePolicy>,
  { fromMs, untilMs }: Span,
  isKept: boolean,
): readonly PlannedFault[] {
  if (chosen.length === 0) return [];
  const policies = [{ ...makePolicy(chosen, 'Enforce'), ...fields }];
  const forMs = isKept ? forEverMs : untilMs - fromMs;
  return [{ atMs: fromMs, forMs, fault: { kind: 'settings', change: { policies } } }];
}
