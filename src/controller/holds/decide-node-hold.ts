// Decides which mode or pause holds the writes for a node: its policy, a pause of all nodes, or its own annotation.
import type { NodeHold, NodePolicy } from '../model/policy.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { ownValue } from '../../machinery/api/json-map.ts';
import { taintKeys } from '../../machinery/api/taints.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import { findCondition } from '../../machinery/api/conditions.ts';

interface ModeEvidence {
  /** `paused: true` in the config file. */
  readonly paused: boolean;
  /** Every policy that claims the node: several that claim it equally do not apply, and still hold. */
  readonly claims: readonly Claim[];
  /** Undefined: the node does not exist. */
  readonly node: Health | undefined;
  readonly wallMs: number;
  /** See {@link unhealthySinceMs}. */
  readonly seenMs?: number | undefined;
}

type Claim = Pick<NodePolicy, 'name' | 'mode' | 'detect' | 'modeWindow'>;
type Health = Pick<NodeView, 'pause' | 'taints' | 'conditions'>;

/** The meaning of the pause annotation. `untilMs`: wall time; Infinity: no end. */
type Pause =
  | { readonly kind: 'none' }
  | { readonly kind: 'paused'; readonly untilMs: number }
  | { readonly kind: 'malformed' };

/** The mode that holds more takes precedence: `Observe`, then a pause, of several one without an end, then `Detect`. */
export function decideNodeHold({ paused, claims, node, wallMs, seenMs }: ModeEvidence): NodeHold | undefined {
  const observing = lastWith('Observe', claims);
  if (observing !== undefined) return { mode: 'Observe', ...untilWindowEnds(observing) };
  if (paused) return { mode: 'Paused', source: { kind: 'config-file' }, untilMs: Infinity };
  const pausing = lastWith('Paused', claims);
  if (pausing !== undefined) return { mode: 'Paused', ...untilWindowEnds(pausing) };
  const byAnnotation = node?.pause === undefined ? undefined : pausedByAnnotation(node.pause, wallMs);
  return byAnnotation ?? (node && decideDetect(claims, unhealthySinceMs(node, wallMs, seenMs), wallMs));
}

/** The policy that has this mode longest. */
function lastWith(mode: NodePolicy['mode'], claims: readonly Claim[]): Claim | undefined {
  return claims.filter((claim) => claim.mode === mode).toSorted((a, b) => modeEndMs(b) - modeEndMs(a))[0];
}

/** Wall time at which a policy may have another mode, because a window ends; Infinity: at none. */
function modeEndMs({ modeWindow }: Pick<Claim, 'modeWindow'>): number {
  return modeWindow?.untilMs ?? Infinity;
}

function untilWindowEnds(claim: Claim): Pick<NodeHold, 'source' | 'untilMs' | 'endsWithWindow' | 'schedule'> {
  const untilMs = modeEndMs(claim);
  return {
    source: byPolicy(claim),
    untilMs,
    ...scheduleOf(claim),
    ...(untilMs < Infinity && { endsWithWindow: true }),
  };
}

function scheduleOf({ modeWindow }: Pick<Claim, 'modeWindow'>): Pick<NodeHold, 'schedule'> {
  return modeWindow === undefined ? {} : { schedule: modeWindow.schedule };
}

/** Of several policies with mode Detect the one that ends last; pods stay ready if one of them says so. */
function decideDetect(claims: ModeEvidence['claims'], sinceMs = Infinity, wallMs: number): NodeHold | undefined {
  const detecting = claims.filter(({ mode }) => mode === 'Detect');
  const endMs = (claim: Claim): number => Math.min(sinceMs + evictAfterMs(claim), modeEndMs(claim));
  const [last] = detecting.toSorted((a, b) => endMs(b) - endMs(a));
  if (last === undefined) return undefined;
  const untilMs = endMs(last);
  if (untilMs <= wallMs) return undefined;
  const keepsPodsReady = detecting.some(({ detect }) => detect?.markPods === false);
  const window = untilMs < Infinity && untilMs === modeEndMs(last) ? { endsWithWindow: true } : {};
  return { mode: 'Detect', source: byPolicy(last), untilMs, ...scheduleOf(last), ...window, keepsPodsReady };
}

function evictAfterMs({ detect }: Pick<NodePolicy, 'detect'>): number {
  return detect?.evictAfterMs ?? Infinity;
}

const taintOf: Readonly<Record<string, string>> = { Unknown: taintKeys.unreachable, False: taintKeys.notReady };

/**
 * Wall time since when a node is as unhealthy as it is: of its first taint for that, which a controller wrote, by its clock, or since when this
 * process has seen it so (`seenMs`), whichever was first. Where such a taint has no time that of the Ready condition counts too, and where
 * there is none yet that of Ready=Unknown, which a controller wrote; of Ready=False only the clock of the kubelet says more. A taint from
 * before Ready=Unknown was left over, as by mode Observe. A time in the future is none, as what wrote it had a wrong clock; it is now where
 * nothing else is known. Undefined: it is Ready, or no time says anything.
 */
export function unhealthySinceMs(
  { taints, conditions }: Omit<Health, 'pause'>,
  wallMs: number,
  seenMs?: number,
): number | undefined {
  const { status = 'Unknown', lastTransitionTime } = findCondition(conditions, 'Ready') ?? {};
  if (status === 'True') return undefined;
  const added = timesOf(taints, ownValue(taintOf, status));
  if (added.length === 0 && status === 'False') return seenMs ?? wallMs;
  const changedMs = parseTimestamp(lastTransitionTime);
  const first = firstOf([...added, seenMs, ...(isComplete(added) ? [] : [changedMs])], wallMs);
  const silentMs = status === 'Unknown' ? pastOf([changedMs], wallMs) : [];
  return first === undefined ? undefined : Math.max(first, ...silentMs.map((ms) => Math.min(ms, seenMs ?? ms)));
}

function isComplete(times: readonly (number | undefined)[]): boolean {
  return times.length > 0 && !times.includes(undefined);
}

/** Now where all times are in the future. */
function firstOf(times: readonly (number | undefined)[], wallMs: number): number | undefined {
  if (times.every((time) => time === undefined)) return undefined;
  return Math.min(wallMs, ...pastOf(times, wallMs));
}

function pastOf(times: readonly (number | undefined)[], wallMs: number): readonly number[] {
  return times.flatMap((time) => (time === undefined || time > wallMs ? [] : time));
}

/** Those of the taints with this key that a controller may have written; undefined for one without. */
function timesOf(taints: Health['taints'], wanted: string | undefined): readonly (number | undefined)[] {
  return taints
    .filter(({ key, effect }) => key === wanted && effect !== 'PreferNoSchedule')
    .map(({ timeAdded }) => parseTimestamp(timeAdded));
}

/** A malformed value was meant to pause the node: it holds without an end, until it is corrected or removed. */
function pausedByAnnotation(annotation: string, wallMs: number): NodeHold | undefined {
  const pause = parsePause(annotation);
  if (pause.kind === 'none') return undefined;
  const malformed = pause.kind === 'malformed';
  const untilMs = malformed ? Infinity : pause.untilMs;
  return untilMs <= wallMs ? undefined : { mode: 'Paused', source: { kind: 'annotation', malformed }, untilMs };
}

function byPolicy({ name }: Pick<NodePolicy, 'name'>): NodeHold['source'] {
  return { kind: 'policy', policy: name };
}

/**
 * `"true"`: without an end; an RFC 3339 time: until then; `"false"` or empty: no pause. Any other value was meant to
 * pause the node, so it counts as malformed and not as no pause.
 */
export function parsePause(value: string | undefined): Pause {
  if (value === undefined || value === '' || value === 'false') return { kind: 'none' };
  if (value === 'true') return { kind: 'paused', untilMs: Infinity };
  const untilMs = parseTimestamp(value);
  return untilMs === undefined ? { kind: 'malformed' } : { kind: 'paused', untilMs };
}
