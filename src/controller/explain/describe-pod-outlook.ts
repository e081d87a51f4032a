import {
  describeEstimate,
  describeEviction,
  describeHistory,
  describeHolds,
  describeLine,
  describeNext,
  describeSeconds,
} from './describe-values.ts';
import type { Patience, PodOutlook } from './outlook.ts';

/** A pod's outlook as a page for people: the same values, in words. */
export function describePodOutlook(outlook: PodOutlook): string {
  const { pod, node, phase, terminating, eviction, holds, next, history, taints } = outlook;
  return [
    `pod ${pod}: ${phase}${terminating ? ', terminating' : ''}, ${node === null ? 'not bound' : `on node ${node}`}\n`,
    describeLine('next', describeNext(next)),
    describeHolds(holds),
    describeLine('eviction', eviction === null ? 'nothing points to it' : describeEviction(eviction)),
    describeLine('taints', taints.length === 0 ? 'no NoExecute taint runs against it' : `${taints.length} NoExecute`),
    ...taints.map((patience) => `    ${patienceText(patience)}\n`),
    describeHistory(history),
  ].join('');
}

function patienceText({ taint, since, toleration, toleratedSeconds, ends }: Patience): string {
  const running = `${taint.key} for ${describeSeconds(since.secondsAgo)}`;
  if (toleration === null) return `${running}: not tolerated`;
  const matched = `toleration ${JSON.stringify(toleration)}`;
  if (toleratedSeconds === null || ends === null) return `${running}: tolerated for ever (${matched})`;
  return `${running}: tolerated for ${toleratedSeconds} s (${matched}), ends ${describeEstimate(ends)}`;
}
