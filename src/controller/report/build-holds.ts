// The holds as the pages show them: each with its figures and what would end it.
import { policyObjectName, resetAnnotation } from '../../machinery/api/node-lifecycle-policy.ts';
import { pauseAnnotation } from '../../machinery/api/node.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import type { RateRule, UnconfirmedReason } from '../model/decisions.ts';
import type { Hold, HoldKind } from '../model/holds.ts';
import type { Now } from '../model/node-state.ts';
import { controllerNames, type ControllerSelection, type PolicySource } from '../model/options.ts';
import type { BreakerStatus, EmptyingStatus, Maintenance, NodeHold, Veto } from '../model/policy.ts';
import { formatEstimate, formatPast, formatWallPast } from './format-time.ts';
import type { ExplainedHold, FiguredHoldKind, PlainHoldKind, Unblocker } from './pages.ts';
import type { AwaitedReport, ClusterReport, OutageHoldReport, PodBrief, ZoneReport } from './reports.ts';

type Part = keyof ControllerSelection;

/** Figures of the holds of a node, or of all nodes. Only those of holds that apply are read. */
export interface HoldDetails {
  readonly now: Now;
  readonly policySource: PolicySource;
  readonly mode: NodeHold | undefined;
  readonly maintenance: Maintenance | undefined;
  readonly veto: Veto | undefined;
  readonly breaker: BreakerStatus | undefined;
  /** Of the policy whose places are taken. */
  readonly emptying: EmptyingStatus | undefined;
  readonly stale: string | undefined;
  readonly outage: OutageHoldReport | undefined;
  readonly awaited: AwaitedReport | undefined;
  readonly unconfirmed: UnconfirmedReason | 'leases-missing' | undefined;
  /** The zone of the node, and its outer zone. */
  readonly zones: readonly ZoneReport[];
  /** The words of the table for a hold that applies. */
  readonly words: (kind: HoldKind) => string;
}

/** A hold that applies, with its figures if it has any. One of zones may be of both. */
export function buildExplainedHolds(hold: Hold, details: HoldDetails): readonly ExplainedHold[] {
  const { kind } = hold;
  return isFigured(kind) ? explanations[kind](details) : [buildPlainHold(kind, hold, details)];
}

function isFigured(kind: HoldKind): kind is FiguredHoldKind {
  return kind in explanations;
}

/** In the words of the table, with the end that it has there. */
function buildPlainHold(kind: PlainHoldKind, { untilMs, endsBy }: Hold, { words, now }: HoldDetails): ExplainedHold {
  const unblockedBy: Unblocker[] = endsBy === 'live-read' ? [{ kind: 'live-read' }] : [];
  if (Number.isFinite(untilMs)) unblockedBy.push({ kind: 'ends', when: formatWallEstimate(untilMs, now) });
  return { kind, words: words(kind), unblockedBy };
}

const explanations: Readonly<Record<FiguredHoldKind, (details: HoldDetails) => readonly ExplainedHold[]>> = {
  observed: (details) => buildModeHold(details),
  paused: (details) => buildModeHold(details),
  'detect-only': (details) => buildDetectHold('detect-only', details),
  'pods-kept-ready': (details) => buildDetectHold('pods-kept-ready', details),
  maintenance: ({ maintenance, now }) => [buildMaintenanceHold(maintenance, now)],
  veto: ({ veto, now }) => (veto === undefined ? [] : [buildVetoHold(veto, now)]),
  breaker: buildBreakerHolds,
  concurrency: ({ emptying, policySource }) =>
    emptying === undefined ? [] : [buildConcurrencyHold(emptying, policySource)],
  stale: ({ stale = '' }) => [{ kind: 'stale', reason: stale, unblockedBy: [{ kind: 'contact-with-api' }] }],
  'stale-pods': () => [{ kind: 'stale-pods', unblockedBy: [{ kind: 'pods-watched' }] }],
  'full-disruption': () => [{ kind: 'full-disruption', unblockedBy: [{ kind: 'nodes-ready', zone: null, count: 1 }] }],
  outage: ({ outage, now }) => (outage === undefined ? [] : [buildOutageHold(outage, now)]),
  unclassified: ({ awaited, now }) => [
    { kind: 'unclassified', unblockedBy: [{ kind: 'heartbeats' }, ...knownBy(awaited, now)] },
  ],
  awaited: ({ awaited, now }) => [buildAwaitedHold(awaited, now)],
  unconfirmed: ({ unconfirmed = 'api-not-answering' }) => [
    { kind: 'unconfirmed', unblockedBy: [unconfirmedEnds[unconfirmed]] },
  ],
  'zone-stopped': ({ zones }) => zones.flatMap(buildZoneHolds),
};

/** This process writes nothing, whatever it decides. */
export function buildProcessHolds({ shadow, leading, leader }: ClusterReport): readonly ExplainedHold[] {
  const holds: ExplainedHold[] = [];
  if (shadow) holds.push({ kind: 'shadow', unblockedBy: [{ kind: 'flag', flag: 'shadow', wanted: 'left out' }] });
  if (!leading) holds.push({ kind: 'not-leader', unblockedBy: [{ kind: 'ask-leader', holder: leader }] });
  return holds;
}

/** The controller that deletes the pods of failed nodes. */
export function selectEvictingPart({ mode }: ClusterReport): Part {
  return mode === 'taint' ? 'taintEviction' : 'nodeLifecycle';
}

/** Holds because the controllers that evict pods do not run in this process. */
export function buildEvictionPartHolds(cluster: ClusterReport): readonly ExplainedHold[] {
  return buildPartHolds([...new Set<Part>(['nodeLifecycle', selectEvictingPart(cluster)])], cluster);
}

/** Holds for those of these controllers that do not run in this process: their actions are not predicted. */
export function buildPartHolds(parts: readonly Part[], { runs }: ClusterReport): readonly ExplainedHold[] {
  const unblockedBy: readonly Unblocker[] = [{ kind: 'flag', flag: 'controllers', wanted: 'naming it' }];
  return parts
    .filter((part) => !runs[part])
    .map((part) => ({ kind: 'not-run', part: controllerNames[part], unblockedBy }));
}

/** Why the deletion of a pod, which is due, waits. */
export function buildRemovalHolds({ wait }: Pick<PodBrief, 'wait'>, now: Now): readonly ExplainedHold[] {
  const holds: ExplainedHold[] = [];
  if (wait?.refused !== undefined) {
    const { why, message, sinceMs, deletedAtMs } = wait.refused;
    const timeout: Unblocker = { kind: 'refusal-timeout', when: formatEstimate(deletedAtMs, now) };
    const unblockedBy: readonly Unblocker[] = [{ kind: 'eviction-allowed' }, timeout];
    holds.push({ kind: 'refused', why, message, since: formatPast(sinceMs, now), unblockedBy });
  }
  if (wait?.responder !== undefined) {
    const { name, eviction, heartbeatAtMs, deletedAtMs } = wait.responder;
    const timeout: Unblocker = { kind: 'refusal-timeout', when: formatEstimate(deletedAtMs, now) };
    const heartbeat = formatWallPast(heartbeatAtMs, now);
    holds.push({ kind: 'responder', name, eviction, heartbeat, unblockedBy: [{ kind: 'responder-ends' }, timeout] });
  }
  if (wait?.rate !== undefined) {
    const { policy, ratePerSecond, ahead } = wait.rate;
    const when = formatEstimate(estimateTokenMs(wait), now);
    holds.push({ kind: 'deletion-rate', policy, ratePerSecond, ahead, unblockedBy: [{ kind: 'token', when }] });
  }
  return holds;
}

/** When a pod that waits is removed at the latest; -Infinity: it does not wait. */
export function estimateRemovalMs(wait: PodBrief['wait']): number {
  const { refused, responder } = wait ?? {};
  return Math.max((refused ?? responder)?.deletedAtMs ?? -Infinity, estimateTokenMs(wait));
}

function estimateTokenMs(wait: PodBrief['wait']): number {
  if (wait?.rate === undefined) return -Infinity;
  const { nextTokenAtMs, ahead, ratePerSecond } = wait.rate;
  return nextTokenAtMs + (ahead * 1_000) / ratePerSecond;
}

/** Observe by a policy, or a pause. */
function buildModeHold({ mode: hold, now, policySource }: HoldDetails): readonly ExplainedHold[] {
  if (hold === undefined) return [];
  const { mode, source } = hold;
  const unblockedBy = [unblockerOf(hold, policySource), ...buildModeEnd('pause-ends', hold, now)];
  if (mode === 'Observe' && source.kind === 'policy') return [{ kind: 'observed', policy: source.policy, unblockedBy }];
  return [{ kind: 'paused', source, unblockedBy }];
}

function buildDetectHold(
  kind: 'detect-only' | 'pods-kept-ready',
  { mode, now, policySource }: HoldDetails,
): readonly ExplainedHold[] {
  if (mode?.source.kind !== 'policy') return [];
  const { source } = mode;
  const unblockedBy = [unblockerOf(mode, policySource), ...buildModeEnd('evict-after', mode, now)];
  return [{ kind, policy: source.policy, unblockedBy }];
}

/** When a mode ends by itself: with the window that set it, or else as the kind says. */
function buildModeEnd(
  kind: 'pause-ends' | 'evict-after',
  { untilMs, endsWithWindow }: NodeHold,
  now: Now,
): readonly Unblocker[] {
  if (!Number.isFinite(untilMs)) return [];
  return [{ kind: endsWithWindow === true ? 'window-ends' : kind, when: formatWallEstimate(untilMs, now) }];
}

function buildMaintenanceHold(maintenance: Maintenance | undefined, now: Now): ExplainedHold {
  const { policy, hold } = maintenance ?? {};
  if (policy === undefined || hold === undefined)
    return { kind: 'maintenance', policy: null, unblockedBy: [{ kind: 'counted' }] };
  const unblockedBy: readonly Unblocker[] = [
    { kind: 'maintenance-cleared', signals: hold.by },
    { kind: 'maintenance-maximum', when: formatWallEstimate(hold.untilMs, now) },
    ...(hold.endsWithSilence ? [{ kind: 'silence' as const }] : []),
  ];
  return { kind: 'maintenance', policy, unblockedBy };
}

function buildVetoHold({ kind, name, owner, policy, untilMs }: Veto, now: Now): ExplainedHold {
  const mark = { kind, name, owner };
  const end: readonly Unblocker[] = Number.isFinite(untilMs)
    ? [{ kind: 'veto-maximum', when: formatWallEstimate(untilMs, now) }]
    : [];
  return { kind: 'veto', policy, mark, unblockedBy: [{ kind: 'mark-removed', mark }, ...end] };
}

function buildConcurrencyHold({ policy, max, nodes }: EmptyingStatus, source: PolicySource): ExplainedHold {
  const unblockedBy: readonly Unblocker[] = [
    { kind: 'node-emptied', nodes },
    buildPolicyChange(policy, 'limits.maxConcurrentEvictions', 'a greater number', source),
  ];
  return { kind: 'concurrency', policy, max, unblockedBy };
}

function buildOutageHold({ why, untilMs, recovering }: OutageHoldReport, now: Now): ExplainedHold {
  const byTime: Unblocker = { kind: 'time', when: formatEstimate(untilMs, now) };
  // At most so many of the silent nodes must recover before the rest is too few for an outage.
  const count = why.together - Math.ceil(why.of * why.shareMin) + 1;
  const byNodes: Unblocker = { kind: 'nodes-ready', zone: null, count };
  return { kind: 'outage', why, unblockedBy: recovering ? [byTime] : [byTime, byNodes] };
}

const awaitedShownMax = 10;

function buildAwaitedHold(awaited: AwaitedReport | undefined, now: Now): ExplainedHold {
  const nodes = awaited?.nodes ?? [];
  const unblockedBy: readonly Unblocker[] = [{ kind: 'heartbeats' }, ...knownBy(awaited, now)];
  return { kind: 'awaited', nodes: nodes.slice(0, awaitedShownMax), count: nodes.length, unblockedBy };
}

function knownBy(awaited: AwaitedReport | undefined, now: Now): readonly Unblocker[] {
  return awaited === undefined ? [] : [{ kind: 'failure-known', when: formatEstimate(awaited.untilMs, now) }];
}

/** A window that sets the mode stands before the mode of the policy itself. */
function unblockerOf({ source, schedule }: NodeHold, policySource: PolicySource): Unblocker {
  switch (source.kind) {
    case 'config-file':
      return { kind: 'setting', setting: 'paused', wanted: 'false' };
    case 'policy':
      return buildPolicyChange(
        source.policy,
        schedule === undefined ? 'mode' : `schedules[${schedule}].set.mode`,
        'Enforce',
        policySource,
      );
    case 'annotation':
      return { kind: 'annotation', annotation: pauseAnnotation };
  }
}

/** A field of a policy, where policies come from. */
function buildPolicyChange(policy: string, field: string, wanted: string, source: PolicySource): Unblocker {
  if (source === 'crd') return { kind: 'field', object: policyObjectName(policy), field: `spec.${field}`, wanted };
  return { kind: 'setting', setting: `policies[${policy}].${field}`, wanted };
}

/** The hold of an open breaker. */
export function buildBreakerHolds({
  breaker,
  now,
  policySource,
}: Pick<HoldDetails, 'breaker' | 'now' | 'policySource'>): readonly ExplainedHold[] {
  if (breaker === undefined) return [];
  const { policy, nodes, unhealthy, exempt, limit } = breaker;
  const { overflow } = breaker;
  const place: readonly Unblocker[] =
    overflow && Number.isFinite(overflow.nextAtMs)
      ? [{ kind: 'overflow-place', when: formatWallEstimate(overflow.nextAtMs, now) }]
      : [];
  const unblockedBy = [endOfBreaker(breaker, now), ...place, ...buildResets(policy, policySource)];
  return [{ kind: 'breaker', policy, nodes, unhealthy, exempt, limit, unblockedBy }];
}

/** An object has an annotation for it, besides the field. */
function buildResets(policy: string, source: PolicySource): readonly Unblocker[] {
  const wanted = 'the current time';
  const field = buildPolicyChange(policy, 'limits.resetAt', wanted, source);
  if (source === 'file') return [field];
  const object = policyObjectName(policy);
  return [{ kind: 'field', object, field: `metadata.annotations[${resetAnnotation}]`, wanted }, field];
}

function endOfBreaker(breaker: BreakerStatus, now: Now): Unblocker {
  const { policy, unhealthy, exempt, limit, cooldownMs, untilMs = Infinity } = breaker;
  if (Number.isFinite(untilMs)) return { kind: 'cooldown-ends', when: formatWallEstimate(untilMs, now) };
  return { kind: 'nodes-healthy', policy, count: unhealthy - exempt - limit, cooldownSeconds: cooldownMs / 1_000 };
}

function formatWallEstimate(wallMs: number, now: Now): ReturnType<typeof formatEstimate> {
  return formatEstimate(now.monotonicMs + wallMs - now.wallMs, now);
}

const unconfirmedEnds: Readonly<Record<UnconfirmedReason | 'leases-missing', Unblocker>> = {
  'leases-missing': { kind: 'leases-exist' },
  'not-permitted': { kind: 'permission', needed: `get and list of leases in ${nodeLeaseNamespace}` },
  'api-not-answering': { kind: 'contact-with-api' },
};

/** The hold of the queue of this zone itself. In a full disruption its rate is no reason. */
export function buildZoneHolds(report: ZoneReport): readonly ExplainedHold[] {
  const { zone, arithmetic, queue } = report;
  if (arithmetic === undefined || queue.ratePerSecond > 0 || arithmetic.rule === 'full-disruption') return [];
  return [{ kind: 'zone-stopped', zone, rule: arithmetic.rule, unblockedBy: endsOfStop(report, arithmetic.rule) }];
}

const rateFlags: Readonly<Partial<Record<RateRule, string>>> = {
  normal: 'node-eviction-rate',
  'zone-fully-disrupted': 'node-eviction-rate',
  'large-zone-disrupted': 'secondary-node-eviction-rate',
};

function endsOfStop({ zone, recoveriesToNormal }: ZoneReport, rule: RateRule): readonly Unblocker[] {
  const flag = rateFlags[rule];
  const byFlag: readonly Unblocker[] = flag === undefined ? [] : [{ kind: 'flag', flag, wanted: 'above 0' }];
  const helps = rule === 'small-zone-disrupted' || rule === 'large-zone-disrupted';
  if (!helps || recoveriesToNormal === undefined) return byFlag;
  return [{ kind: 'nodes-ready', zone, count: recoveriesToNormal }, ...byFlag];
}
