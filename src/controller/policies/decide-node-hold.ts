// Decides what holds the writes for a node: its policy, a pause of all nodes, or its own annotation.
import type { NodeAct, NodeHold, NodePolicy } from '../model/policy.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';

interface HoldEvidence {
  /** `paused: true` in the config file. */
  readonly paused: boolean;
  /** Undefined: the default policy. */
  readonly policy: Pick<NodePolicy, 'name' | 'mode'> | undefined;
  /** The value of the node's pause annotation. */
  readonly annotation: string | undefined;
  readonly wallMs: number;
}

/** The meaning of the pause annotation. `untilMs`: wall time; Infinity: no end. */
type Pause =
  | { readonly kind: 'none' }
  | { readonly kind: 'paused'; readonly untilMs: number }
  | { readonly kind: 'malformed' };

/** `Observe` holds more than a pause, so it takes precedence; of several pauses one without an end. */
export function decideNodeHold({ paused, policy, annotation, wallMs }: HoldEvidence): NodeHold | undefined {
  if (policy?.mode === 'Observe') return { mode: 'Observe', source: byPolicy(policy), untilMs: Infinity };
  if (paused) return { mode: 'Paused', source: { kind: 'config-file' }, untilMs: Infinity };
  if (policy?.mode === 'Paused') return { mode: 'Paused', source: byPolicy(policy), untilMs: Infinity };
  return annotation === undefined ? undefined : pausedByAnnotation(annotation, wallMs);
}

/** Whether a hold applies to this kind of write: a pause does not apply to recovery. */
export function isHeldIn(mode: NodeHold['mode'], act: NodeAct): boolean {
  return mode === 'Observe' || isNegative(act);
}

/** Whether an act makes the node or its pods worse. */
export function isNegative(act: NodeAct): boolean {
  return act !== 'remove-taints' && act !== 'set-labels';
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
