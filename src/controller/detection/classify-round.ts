// What the answers to one round of probes mean.
import type { DialResult } from '../../machinery/ports/dialer.ts';
import type { RoundResult } from '../model/detection.ts';
import type { ProbeKind } from '../model/policy.ts';

/** The results of one node, by probe: none where it has no address of that kind; absent where its addresses are not known. */
export type Answers = ReadonlyMap<ProbeKind, readonly DialResult[]>;

/**
 * One answer shows that the machine is there. No answer shows that it is not, if the same probes of other nodes are answered: by at
 * least one of them, and not by fewer than half. A node without pods is not asked by them, but its kubelet must be asked.
 */
export function classifyRound(probes: readonly ProbeKind[], own: Answers, controls: readonly Answers[]): RoundResult {
  const results = probes.flatMap((probe) => own.get(probe) ?? []);
  if (results.includes('answered')) return 'answered';
  const isAsked = probes.every((probe) => own.has(probe)) && (own.get('kubelet') ?? []).length > 0;
  if (!isAsked || results.includes('not-sent')) return 'not-asked';
  const asked = probes.filter((probe) => (own.get(probe) ?? []).length > 0);
  return asked.every((probe) => isPathProven(probe, controls)) ? 'no-answer' : 'path-suspect';
}

/** Whether probes of this kind reach nodes that are alive. */
function isPathProven(probe: ProbeKind, controls: readonly Answers[]): boolean {
  const asked = controls.map((answers) => answers.get(probe) ?? []).filter((results) => results.length > 0);
  const answered = asked.filter((results) => results.includes('answered'));
  return answered.length > 0 && 2 * answered.length >= asked.length;
}
