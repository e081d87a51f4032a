import type { Decision } from '../model/decisions.ts';

const warningKinds: ReadonlySet<Decision['kind']> = new Set([
  'write-failed',
  'evaluation-failed',
  'node-uncovered',
  'frames-stand-in',
  'lists-stand-in',
  'policy-conflict',
  'breaker-opened',
  'eviction-wait-ended',
  'fencing-not-proven',
  'fencing-not-confirmed',
]);

/** The level of the log line of a decision. */
export function classifyLevel(decision: Decision): 'info' | 'warn' {
  return isWarning(decision) ? 'warn' : 'info';
}

function isWarning(decision: Decision): boolean {
  if (decision.kind === 'flapping-released') return decision.why === 'malformed' || decision.why === 'too-long';
  if (decision.kind === 'pause-annotation-changed') return decision.reading === 'malformed';
  if (decision.kind === 'eviction-refused') return decision.why !== 'budget';
  const dependsOnRights = decision.kind === 'confirmation-held' || decision.kind === 'orphans-kept';
  return dependsOnRights ? decision.why === 'not-permitted' : warningKinds.has(decision.kind);
}
