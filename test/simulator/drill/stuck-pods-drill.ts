// The pods of a silent node are evicted, and no kubelet ends them: they are counted when they are overdue, and never deleted by force.
import { policyStuckPods } from '../../../src/controller/policies/metrics.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import { parseTimestamp } from '../../../src/machinery/api/timestamps.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { isReady } from '../../../src/simulator/node-fields.ts';
import { wallStartMs, type World } from '../../../src/simulator/world.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import type { DrillContext, DrillViolation } from './drill-context.ts';
import { type Drill, type DrillCluster, drawNodes, silenceOf, tailMs } from './drill-plan.ts';
import { seconds } from './due-times.ts';

const preparedMs = 2_000;
/** A token of the zone, the longest toleration and the longest grace period. */
const evictedMs = 105_000;
/** Watches, and times on the wire, which are whole seconds. */
const knownMs = 5_000;

export function planStuckPodsDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [node] = drawNodes(random, {
    ...cluster,
    nodes: cluster.nodes.filter(({ name }) => cluster.withPods.has(name)),
  });
  const timeoutMs = oneOf(random, [5_000, 20_000]);
  if (node === undefined || !cluster.clocksAgree) return undefined;
  const silentMs = cluster.graceMs + evictedMs + timeoutMs;
  const durationMs = preparedMs + silentMs + tailMs;
  const policies = [{ ...makePolicy([node], 'Enforce'), terminatingTimeoutMs: timeoutMs }];
  const settings: PlannedFault = {
    atMs: 50,
    forMs: durationMs + tailMs,
    fault: { kind: 'settings', change: { policies } },
  };
  const acts = [settings, silenceOf([node], preparedMs, silentMs)];
  return {
    name: 'stuck-pods',
    acts,
    durationMs,
    stuck: [],
    stuckPods: { node, timeoutMs, untilMs: preparedMs + silentMs },
  };
}

/**
 * The leader's number of stuck pods is not that of the pods that are, `sinceMs` after the drill began. Undefined: it is,
 * or the silence has ended: a kubelet ends pods before its node is Ready again.
 */
export function findStuckMiscount(
  world: World,
  { node, timeoutMs, untilMs }: NonNullable<Drill['stuckPods']>,
  sinceMs: number,
): string | undefined {
  if (sinceMs >= untilMs) return undefined;
  const meter = world.leader()?.run?.meter;
  const silent: Node | undefined = world.storage.get('nodes', { name: node });
  if (meter === undefined || silent === undefined || isReady(silent)) return undefined;
  meter.scrape();
  const counted = meter.read(policyStuckPods);
  const nowMs = wallStartMs + world.timeline.nowMs;
  const pods: readonly Pod[] = world.storage.list('pods');
  const overdueMs = pods.flatMap(({ spec, metadata }) => {
    const endMs = parseTimestamp(metadata.deletionTimestamp);
    return spec?.nodeName === node && endMs !== undefined ? [nowMs - endMs - timeoutMs] : [];
  });
  const least = overdueMs.filter((ms) => ms >= knownMs).length;
  const most = overdueMs.filter((ms) => ms >= -knownMs).length;
  if (counted >= least && counted <= most) return undefined;
  return `${counted} stuck pods are counted, ${least === most ? least : `${least} to ${most}`} are`;
}

/** A pod of the silent node that is gone although its kubelet did not end it. */
export function findStuckViolations({ drill, record, span }: DrillContext): readonly DrillViolation[] {
  const { node, untilMs = 0 } = drill.stuckPods ?? {};
  const returnsMs = span.fromMs + untilMs;
  return [...record.pods.values()].flatMap(({ key: subject, node: on, deletion, goneMs = Infinity }) => {
    if (on !== node || deletion === undefined) return [];
    // Without a grace period the deletion itself removes it; before the silence its kubelet does.
    const fromMs = Math.max(deletion.atMs, span.fromMs + preparedMs) + knownMs;
    if (goneMs <= fromMs || goneMs >= returnsMs) return [];
    const text = `gone at ${seconds(goneMs)}, while its kubelet is silent, ${seconds(goneMs - deletion.atMs)} after its deletion`;
    return [{ invariant: 'stuck-pods-are-not-forced', subject, text }];
  });
}
