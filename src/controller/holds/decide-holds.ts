// The one table of what holds an act. A kind of hold is its row: which acts it covers, what ends it, when it applies, and its
// words. The order of the rows is the order of precedence everywhere.
import { zoneName } from '../../machinery/api/zone.ts';
import type { Act, Hold, HoldEnd, HoldEvidence, HoldKind, HoldScope } from '../model/holds.ts';
import { describeHoldSource, describeVeto } from '../model/policy.ts';

/** Begin and end of a hold that applies, in wall time. Absent: its beginning is not known; no end by time; the scope of its kind. */
interface Applied {
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly scope?: HoldScope;
}

interface HoldRow {
  readonly kind: HoldKind;
  readonly scope: HoldScope;
  readonly covers: readonly Act[];
  readonly endsBy: HoldEnd;
  /** A person or a policy decided it for a time without a bound: what it holds is not late. */
  readonly isIntended?: true;
  /** See {@link Hold.askAgainMs}. Absent: Infinity. */
  readonly askAgainMs?: number;
  /** See {@link maximumOfHoldMs}. */
  readonly maximumMs?: number;
  /** Undefined: it does not hold this node. `nowMs`: wall time. */
  readonly applies: (evidence: HoldEvidence, nowMs: number) => Applied | undefined;
  /** Reason for a person, without numbers and times that move; only of evidence to which it applies. */
  readonly words: (evidence: HoldEvidence) => string;
}

/** What makes a node or its pods worse. */
const worse: readonly Act[] = [
  'mark-unknown',
  'add-no-schedule',
  'add-no-execute',
  'add-out-of-service',
  'add-flapping-taint',
  'mark-pods',
  'empty-node',
  'delete-for-health',
  'delete-for-taint',
  'collect-pods',
];
/** Recovery is held by Observe only. */
export const everyAct: readonly Act[] = [...worse, 'remove-taints', 'set-labels'];
/** What begins to empty a node for its health. */
const emptying: readonly Act[] = ['add-no-execute', 'add-out-of-service', 'empty-node'];
/** What removes pods for the health of their node, from the taint to the deletion. */
const evicting: readonly Act[] = [...emptying, 'delete-for-health'];
/** Time for which an act waits that follows the end of maintenance and comes before the pass that counts the node. */
const uncountedMs = 100;
/** Intervals of questions for the end of holds whose end is no event. */
const askAgainMs = { place: 500, cluster: 1_000 } as const;

/** Time for which a sign of recovery holds a deletion before the node is read live. */
const recoveryMsMax = 5 * 60_000;

const scopeOfPause = { 'config-file': 'cluster', policy: 'policy', annotation: 'node' } as const;

/** In the order of precedence. */
const rows: readonly HoldRow[] = [
  {
    kind: 'observed',
    scope: 'policy',
    covers: everyAct,
    endsBy: 'change',
    isIntended: true,
    applies: ({ mode }) => (mode?.mode === 'Observe' ? {} : undefined),
    words: ({ mode }) => `mode Observe (${mode && describeHoldSource(mode.source)}): nothing is written`,
  },
  {
    kind: 'paused',
    scope: 'node',
    covers: worse,
    endsBy: 'time',
    isIntended: true,
    applies: ({ mode }) =>
      mode?.mode === 'Paused' ? { untilMs: mode.untilMs, scope: scopeOfPause[mode.source.kind] } : undefined,
    words: ({ mode }) => `paused by ${mode && describeHoldSource(mode.source)}`,
  },
  {
    kind: 'detect-only',
    scope: 'policy',
    covers: evicting,
    endsBy: 'time',
    isIntended: true,
    applies: ({ mode }) => (mode?.mode === 'Detect' ? { untilMs: mode.untilMs } : undefined),
    words: ({ mode }) => `mode Detect (${mode && describeHoldSource(mode.source)}): nothing is evicted`,
  },
  {
    kind: 'pods-kept-ready',
    scope: 'policy',
    covers: ['mark-pods'],
    endsBy: 'time',
    isIntended: true,
    applies: ({ mode }) => (mode?.keepsPodsReady === true ? { untilMs: mode.untilMs } : undefined),
    words: ({ mode }) => `mode Detect (${mode && describeHoldSource(mode.source)}): no pod is marked NotReady`,
  },
  {
    kind: 'maintenance',
    scope: 'node',
    covers: evicting,
    endsBy: 'time',
    isIntended: true,
    applies: ({ maintenance, isUncounted }, nowMs) => {
      if (maintenance !== undefined) return maintenance.hold && { untilMs: maintenance.hold.untilMs };
      return isUncounted ? { untilMs: nowMs + uncountedMs } : undefined;
    },
    words: ({ maintenance }) => `in planned maintenance${maintenance ? ` (policy ${maintenance.policy})` : ''}`,
  },
  {
    kind: 'veto',
    scope: 'node',
    covers: evicting,
    endsBy: 'time',
    isIntended: true,
    applies: ({ veto }) => veto && { untilMs: veto.untilMs },
    words: ({ veto }) => (veto === undefined ? '' : describeVeto(veto)),
  },
  {
    kind: 'breaker',
    scope: 'policy',
    covers: evicting,
    endsBy: 'change',
    isIntended: true,
    applies: ({ breaker }) => breaker && { sinceMs: breaker.openedAtMs, untilMs: breaker.untilMs },
    words: ({ breaker }) => `the breaker of policy ${breaker?.policy} is open`,
  },
  {
    kind: 'concurrency',
    scope: 'policy',
    covers: ['add-no-execute', 'add-out-of-service'],
    endsBy: 'change',
    isIntended: true,
    askAgainMs: askAgainMs.place,
    applies: ({ emptying: full }) => full && {},
    words: ({ emptying: full }) =>
      `at most ${full?.max === 1 ? `1 node of policy ${full.policy} is` : `${full?.max} nodes of policy ${full?.policy} are`} emptied at once`,
  },
  {
    kind: 'hourly-limit',
    scope: 'policy',
    covers: ['delete-for-health'],
    endsBy: 'time',
    applies: ({ hourlyLimit }) => hourlyLimit && { untilMs: hourlyLimit.untilMs },
    words: ({ hourlyLimit: limit }) =>
      `at most ${limit?.max === 1 ? '1 pod' : `${limit?.max} pods`} of nodes of policy ${limit?.policy} may be evicted within an hour`,
  },
  {
    kind: 'stale',
    scope: 'cluster',
    covers: [...evicting, 'mark-pods'],
    endsBy: 'change',
    askAgainMs: askAgainMs.cluster,
    applies: ({ stale }) => (stale === undefined ? undefined : {}),
    words: ({ stale }) => `watch streams are stale (${stale})`,
  },
  {
    kind: 'stale-pods',
    scope: 'cluster',
    covers: ['delete-for-health', 'delete-for-taint'],
    endsBy: 'change',
    askAgainMs: askAgainMs.cluster,
    applies: ({ arePodsStale }) => (arePodsStale ? {} : undefined),
    words: () => 'the watch of pods is not open',
  },
  {
    kind: 'full-disruption',
    scope: 'cluster',
    covers: evicting,
    endsBy: 'change',
    askAgainMs: askAgainMs.cluster,
    applies: ({ isFullyDisrupted }) => (isFullyDisrupted ? {} : undefined),
    words: () => 'all zones are fully disrupted',
  },
  {
    kind: 'outage',
    scope: 'node',
    covers: [...emptying, 'mark-pods'],
    endsBy: 'time',
    applies: ({ outage }) => outage && { sinceMs: outage.fromMs, untilMs: outage.untilMs },
    words: ({ outage }) => `${outage?.outage}: it became silent together with most nodes of several zones`,
  },
  {
    kind: 'unclassified',
    scope: 'node',
    covers: [...emptying, 'mark-pods'],
    endsBy: 'time',
    applies: ({ unclassifiedUntilMs: untilMs }) => (untilMs === undefined ? undefined : { untilMs }),
    words: () => 'it is not known yet whether most nodes failed with it',
  },
  {
    kind: 'awaited',
    scope: 'zone',
    covers: ['add-no-execute', 'empty-node'],
    endsBy: 'change',
    askAgainMs: askAgainMs.cluster,
    applies: ({ isAwaiting }) => (isAwaiting ? {} : undefined),
    words: () => 'it is not known yet which nodes of its zone failed with it',
  },
  {
    kind: 'unconfirmed',
    scope: 'node',
    covers: ['mark-unknown'],
    endsBy: 'live-read',
    applies: ({ isUnconfirmed }) => (isUnconfirmed ? {} : undefined),
    words: () => 'it looks silent, and a live read of its lease does not confirm it',
  },
  {
    kind: 'node-is-ready',
    scope: 'node',
    covers: ['delete-for-health'],
    endsBy: 'live-read',
    maximumMs: recoveryMsMax,
    applies: ({ isReady }) => (isReady ? {} : undefined),
    words: () => 'it is Ready, so its taint is about to be removed',
  },
  {
    kind: 'lease-is-renewed',
    scope: 'node',
    covers: ['delete-for-health'],
    endsBy: 'live-read',
    maximumMs: recoveryMsMax,
    applies: ({ isLeaseRenewed }) => (isLeaseRenewed ? {} : undefined),
    words: () => 'its lease is being renewed',
  },
  {
    kind: 'late-cache',
    scope: 'node',
    covers: ['delete-for-health', 'delete-for-taint'],
    endsBy: 'live-read',
    maximumMs: 0,
    applies: ({ isCacheLate }) => (isCacheLate ? {} : undefined),
    words: () => 'the cache may lack its last change',
  },
  {
    kind: 'zone-stopped',
    scope: 'zone',
    covers: ['add-no-execute', 'empty-node'],
    endsBy: 'token',
    applies: ({ stoppedZone }) => (stoppedZone === undefined ? undefined : {}),
    words: ({ stoppedZone }) => `the eviction rate of zone ${zoneName(stoppedZone ?? '')} is 0`,
  },
];

/** The rows that cover each act, so that a question costs no more than these. */
const byAct: ReadonlyMap<Act, readonly HoldRow[]> = new Map(
  everyAct.map((act) => [act, rows.filter(({ covers }) => covers.includes(act))]),
);
const byKind: ReadonlyMap<HoldKind, HoldRow> = new Map(rows.map((row) => [row.kind, row]));

const none: ReadonlySet<HoldKind> = new Set();

/**
 * Every hold of any of these acts but of these kinds, each once, in the order of the table. `nowMs`: wall time. Reads no more of the
 * evidence than it is asked for.
 */
export function* holdsOf(evidence: HoldEvidence, acts: readonly Act[], nowMs: number, except = none): Iterable<Hold> {
  const [only = 'mark-unknown'] = acts;
  const asked =
    acts.length === 1 ? byAct.get(only) : rows.filter(({ covers }) => acts.some((act) => covers.includes(act)));
  for (const row of asked ?? []) {
    const hold = except.has(row.kind) ? undefined : toHold(row, evidence, nowMs);
    if (hold !== undefined) yield hold;
  }
}

/** The first hold of this act that ends in one of these ways. */
export function decideHold(
  evidence: HoldEvidence,
  act: Act,
  { nowMs, ends }: { readonly nowMs: number; readonly ends: readonly HoldEnd[] },
): Hold | undefined {
  for (const row of byAct.get(act) ?? []) {
    const hold = ends.includes(row.endsBy) ? toHold(row, evidence, nowMs) : undefined;
    if (hold !== undefined) return hold;
  }
  return undefined;
}

function toHold(row: HoldRow, evidence: HoldEvidence, nowMs: number): Hold | undefined {
  const applied = row.applies(evidence, nowMs);
  if (applied === undefined) return undefined;
  const { sinceMs, untilMs = Infinity, scope = row.scope } = applied;
  const { kind, endsBy, askAgainMs: againMs = Infinity } = row;
  return untilMs <= nowMs ? undefined : { kind, scope, endsBy, sinceMs, untilMs, askAgainMs: againMs };
}

/** Reason of a hold of this kind, for a person; without numbers and times that move. */
export function describeHoldKind(kind: HoldKind, evidence: HoldEvidence): string {
  return byKind.get(kind)?.words(evidence) ?? kind;
}

/**
 * Time for which a hold of this kind holds the deletion of one pod before a live read of the node decides; 0: it decides at once, as
 * lists that replace a watch show a recovery late. Infinity: the hold ends where it is detected, for all pods of the node together, and
 * has its maximum there: watches are stale for a bounded time, maintenance is bounded by its policy, a breaker ends with the number of
 * unhealthy nodes, and modes and pauses are an administrator's decision, which no evidence ends.
 */
export function maximumOfHoldMs(kind: HoldKind): number {
  return byKind.get(kind)?.maximumMs ?? Infinity;
}

/** Whether a hold of this kind is what a person or a policy decided, for as long as they like: what waits for its end is not late. */
export function isIntendedHold(kind: HoldKind): boolean {
  return byKind.get(kind)?.isIntended === true;
}
