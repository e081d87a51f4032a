// Decides which mode or pause holds the writes for a node: its policy, a pause of all nodes, or its own annotation.
import type { NodeHold, NodePolicy } from '../model/policy.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';

interface ModeEvidence {
  /** `paused: true` in the config file. */
  readonly paused: boolean;
  /** Every policy that claims the node: several that claim it equally do not apply, and still hold. */
  readonly claims: readonly Pick<NodePolicy, 'name' | 'mode'>[];
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
export function decideNodeHold({ paused, claims, annotation, wallMs }: ModeEvidence): NodeHold | undefined {
  const observing = claims.find(({ mode }) => mode === 'Observe');
  if (observing !== undefined) return { mode: 'Observe', source: byPolicy(observing), untilMs: Infinity };
  if (paused) return { mode: 'Paused', source: { kind: 'config-file' }, untilMs: Infinity };
  const pausing = claims.find(({ mode }) => mode === 'Paused');
  if (pausing !== undefined) return { mode: 'Paused', source: byPolicy(pausing), untilMs: Infinity };
  return annotation === undefined ? undefined : pausedByAnnotation(annotation, wallMs);
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
