// A policy with mode Detect, or one that lets pods ask to be kept or other tools mark their nodes, which changes while the faults last. It has a random source of its
// own, so that the seeds without it have the story that they had before.
import type { NodePolicy, VetoRule } from '../../../src/controller/model/policy.ts';
import { vetoAnnotations, vetoOwners } from '../../../src/machinery/api/vetoes.ts';
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf } from '../../../src/simulator/draw.ts';
import { makePolicy, type Span, splitSpan } from './policy-plan.ts';
import type { PlannedFault } from './world-fault.ts';

/** With this source the seeds for which `docs/simulator.md` or the regression seeds say what they find have none of this. */
const source = 0x5_03;
const share = 0.06;
const changes = 3;

/** None for most seeds; some for each cluster where labels of namespaces count. All end with the span. */
export function planDetect(seed: number, cluster: ClusterPlan, span: Span): readonly PlannedFault[] {
  const { nodes, namespaceAutonomy = false } = cluster;
  const random = new SeededRandom(seed ^ source);
  if (!chance(random, share) && !namespaceAutonomy) return [];
  const names = nodes.map(({ name }) => name);
  return splitSpan(span, changes).flatMap((part) => {
    const { fromMs: atMs, untilMs } = part;
    const policies = [drawPolicy(random, names)];
    const settings: PlannedFault = { atMs, forMs: untilMs - atMs, fault: { kind: 'settings', change: { policies } } };
    const others = namespaceAutonomy ? namespaces(random, part) : [];
    return [settings, silence(random, names, part), autonomy(random, atMs), mark(random, names, part), ...others];
  });
}

function drawPolicy(random: Random, names: readonly string[]): NodePolicy {
  const chosen = names.filter(() => chance(random, 0.7));
  const mode = oneOf(random, ['Detect', 'Detect', 'Enforce'] as const);
  const evictAfterMs = oneOf(random, [undefined, 10_000, 60_000]);
  const detect = oneOf(random, [undefined, { markPods: false, evictAfterMs }, { markPods: true, evictAfterMs }]);
  const podAutonomy = oneOf(random, [undefined, { evictAfterMs: 20_000 }, { evictAfterMs: 90_000 }]);
  const vetoes = oneOf(random, [undefined, vetoRule(15_000), vetoRule(90_000)]);
  const policy = makePolicy(chosen.length === 0 ? names : chosen, mode);
  return { ...policy, ...(mode === 'Detect' && { detect }), podAutonomy, vetoes };
}

/** Every known mark holds. */
export function vetoRule(maxDurationMs: number): VetoRule {
  return { of: vetoOwners, labels: [], taints: [], maxDurationMs };
}

function mark(random: Random, names: readonly string[], { fromMs, untilMs }: Span): PlannedFault {
  const atMs = Math.round(between(random, fromMs, untilMs));
  const value = oneOf(random, ['true', 'when-failed', 'false']);
  const key = oneOf(random, vetoAnnotations);
  return { atMs, forMs: untilMs - atMs, fault: { kind: 'annotation', node: oneOf(random, names), key, value } };
}

/** Of a node that has time to become Unknown. */
function silence(random: Random, names: readonly string[], { fromMs, untilMs }: Span): PlannedFault {
  const atMs = Math.round(between(random, fromMs, (fromMs + untilMs) / 2));
  const fault = { kind: 'partition', direction: 'all', manner: 'silent' } as const;
  return { atMs, forMs: untilMs - atMs, fault: { kind: 'node', names: [oneOf(random, names)], fault } };
}

function autonomy(random: Random, atMs: number): PlannedFault {
  return { atMs, forMs: 1, fault: { kind: 'autonomy', share: oneOf(random, [0, 0.5]) } };
}

/** The label of the namespace comes, or goes, at any time. */
function namespaces(random: Random, { fromMs, untilMs }: Span): readonly PlannedFault[] {
  const atMs = Math.round(between(random, fromMs, untilMs));
  return [{ atMs, forMs: 1, fault: { kind: 'namespace-autonomy', asks: chance(random, 0.7) } }];
}
