// A policy with some of the features that were added last, which changes while the faults last: what each does is checked by a drill of
// its own, and here that it does no harm under faults. It has a random source of its own, so that the seeds without it have the story that
// they had before.
import type { NodePolicy, PolicySchedule } from '../../../src/controller/model/policy.ts';
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf } from '../../../src/simulator/draw.ts';
import type { SettingsChange } from '../../../src/simulator/world.ts';
import { makePolicy, type Span, splitSpan } from './policy-plan.ts';
import type { PlannedFault } from './world-fault.ts';

/** With this source the seeds for which `docs/simulator.md` or the regression seeds say what they find have none of this. */
const source = 0x4d_3d;
const share = 0.06;
const featureShare = 0.5;
const changes = 3;

/** None for most seeds. All end with the span. */
export function planNewerFeatures(seed: number, { nodes }: ClusterPlan, span: Span): readonly PlannedFault[] {
  const random = new SeededRandom(seed ^ source);
  if (!chance(random, share)) return [];
  const names = nodes.map(({ name }) => name);
  return splitSpan(span, changes).flatMap((part) => {
    const { fromMs: atMs, untilMs } = part;
    const change = drawSettings(random, names);
    const settings: PlannedFault = { atMs, forMs: untilMs - atMs, fault: { kind: 'settings', change } };
    return [settings, ...drawTroubles(random, names, part)];
  });
}

function drawSettings(random: Random, names: readonly string[]): SettingsChange {
  const chosen = names.filter(() => chance(random, 0.7));
  const policy = { ...makePolicy(chosen.length === 0 ? names : chosen, 'Enforce'), ...drawFeatures(random) };
  return {
    policies: [policy],
    terminatedPodGcAgeMs: oneOf(random, [undefined, 10_000, 60_000]),
    terminatedPodGcPerNode: oneOf(random, [undefined, 1, 3]),
  };
}

function drawFeatures(random: Random): Partial<NodePolicy> {
  const afterMs = oneOf(random, [15_000, 20_000]);
  const limits = {
    maxUnhealthy: { percent: undefined, count: oneOf(random, [1, 2]) },
    cooldownMs: oneOf(random, [1_000, 60_000]),
    resetAtMs: undefined,
    overflow: oneOf(random, [undefined, { ratePerHour: 120 }, { ratePerHour: 3_600, order: 'age' as const }]),
  };
  const detection = { earliestMs: oneOf(random, [15_000, 20_000]), probes: ['kubelet', 'pods'] as const };
  const features: readonly Partial<NodePolicy>[] = [
    { limits, ...(chance(random, 0.5) && { detection }) },
    { earlyWarning: { afterMs, annotate: chance(random, 0.7) } },
    { markPodsOfNotReadyAfterMs: oneOf(random, [5_000, 30_000]) },
    { terminatingTimeoutMs: oneOf(random, [1_000, 30_000]) },
    { schedules: drawSchedules(random) },
  ];
  return Object.assign({}, ...features.filter(() => chance(random, featureShare)));
}

/** Windows that hold, which begin with minutes. */
function drawSchedules(random: Random): readonly PolicySchedule[] {
  const everyMinutes = oneOf(random, [1, 2, 3]);
  const mode = oneOf(random, ['Detect', 'Paused', 'Observe'] as const);
  const durationMs = oneOf(random, [60_000, 90_000]);
  return [{ cron: `*/${everyMinutes} * * * *`, timeZone: 'UTC', durationMs, set: { mode } }];
}

/** A node that has time to become Unknown, one that reports NotReady, and pods that complete. */
function drawTroubles(random: Random, names: readonly string[], { fromMs, untilMs }: Span): readonly PlannedFault[] {
  const atMs = Math.round(between(random, fromMs, (fromMs + untilMs) / 2));
  const forMs = untilMs - atMs;
  const silent = { kind: 'partition', direction: 'all', manner: 'silent' } as const;
  const unhealthy = { kind: 'unhealthy', reason: 'the runtime is down' } as const;
  return [
    { atMs, forMs, fault: { kind: 'node', names: [oneOf(random, names)], fault: silent } },
    { atMs, forMs, fault: { kind: 'node', names: [oneOf(random, names)], fault: unhealthy } },
    { atMs, forMs, fault: { kind: 'jobs', node: oneOf(random, names), count: 4, everyMs: 5_000, runMs: 5_000 } },
  ];
}
