import type { BootEvidence } from '../decisions.ts';

/** Was the machine down between these two boot IDs? An empty one says nothing. */
export function deriveBootEvidence(before: string, after: string): BootEvidence {
  if (before === '' || after === '') return 'unknown';
  return before === after ? 'same' : 'changed';
}
