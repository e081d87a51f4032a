import { describeCollection } from './describe-collection.ts';
import {
  describeEstimate,
  describeEviction,
  describeGiven,
  describeHistory,
  describeHolds,
  describeLine,
  describeNext,
  describeSeconds,
  describeFlaws,
} from './describe-values.ts';
import type { Patience, PodOutlook, StayOutlook } from './outlook.ts';

/** A pod's outlook as a page for people: the same values, in words. */
export function describePodOutlook(outlook: PodOutlook): string {
  const { pod, node, phase, terminating, holds, next, history, taints } = outlook;
  return [
    `pod ${pod}: ${phase}${terminating ? ', terminating' : ''}, ${node === null ? 'not bound' : `on node ${node}`}\n`,
    describeLine('next', describeNext(next)),
    describeHolds(holds),
    evictionText(outlook),
    describeCollection(outlook.collection),
    describeLine('taints', taints.length === 0 ? 'no NoExecute taint runs against it' : `${taints.length} NoExecute`),
    ...taints.map((patience) => `    ${patienceText(patience)}\n`),
    describeFlaws(outlook.flaws),
    describeHistory(history),
  ].join('');
}

function evictionText({ eviction, stays }: PodOutlook): string {
  if (eviction !== null)
    return describeLine('eviction', `${describeEviction(eviction)}, ${describeGiven(eviction.given)}`);
  return stays === null ? '' : describeLine('eviction', `none: ${stayText(stays)}`);
}

function stayText(stays: StayOutlook): string {
  switch (stays.why) {
    case 'already-terminating':
      return 'it is being deleted already, and only its kubelet can finish that';
    case 'not-run':
      return `not foreseen here, because this process does not run the ${stays.part}`;
    case 'not-bound':
      return 'it is bound to no node';
    case 'node-unknown':
      return 'its node is not known here';
    case 'daemon-set':
      return `DaemonSet ${stays.daemonSet} selects it and would put it back on the same node`;
    case 'tolerates-for-ever':
      return 'it tolerates for ever what its node has or would get';
    case 'nothing-points-to-it':
      return 'nothing points to it';
  }
}

function patienceText({ taint, since, toleration, toleratedSeconds, ends }: Patience): string {
  const running = `${taint.key} for ${describeSeconds(since.secondsAgo)}`;
  if (toleration === null) return `${running}: not tolerated`;
  const matched = `toleration ${JSON.stringify(toleration)}`;
  if (toleratedSeconds === null || ends === null) return `${running}: tolerated for ever (${matched})`;
  return `${running}: tolerated for ${toleratedSeconds} s (${matched}), ends ${describeEstimate(ends)}`;
}
