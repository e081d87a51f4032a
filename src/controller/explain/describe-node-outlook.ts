import {
  describeEstimate,
  describeEviction,
  describeHistory,
  describeHolds,
  describeLine,
  describeNext,
  describeSeconds,
  describeTaints,
} from './describe-values.ts';
import { describeZoneState } from './describe-zone-outlook.ts';
import type { NodeOutlook } from './outlook.ts';

/** A node's outlook as a page for people: the same values, in words. */
export function describeNodeOutlook(outlook: NodeOutlook): string {
  const { node, ready, taints, holds, next, history } = outlook;
  return [
    `node ${node}: Ready is ${ready}; ${silenceText(outlook)}\n`,
    describeLine('next', describeNext(next)),
    describeHolds(holds),
    describeLine('heard', heardText(outlook)),
    describeLine(
      'zone',
      `${describeZoneState(outlook.zone)}${outlook.counted ? '' : '; this node does not count in it'}`,
    ),
    describeLine('taints', `has ${describeTaints(taints.carried)}; should have ${describeTaints(taints.wanted)}`),
    lineText(outlook),
    taintText(outlook),
    evictionsText(outlook),
    describeHistory(history),
  ].join('');
}

function silenceText({ silence }: NodeOutlook): string {
  if (silence === null) return 'not looked at yet';
  if (silence.since !== null)
    return `silent for ${describeSeconds(silence.since.secondsAgo)}, since ${silence.since.at}`;
  return silence.from === null ? 'not silent' : `not silent; would be, unless heard: ${describeEstimate(silence.from)}`;
}

function heardText({ heard, grace }: NodeOutlook): string {
  if (heard === null || grace === null) return 'not looked at yet';
  const graceText = `grace ${describeSeconds(grace.seconds)} (${grace.rule} rule, --${grace.flag})`;
  return `${describeSeconds(heard.secondsAgo)} ago by ${heard.channel} (${heard.at}); ${graceText}`;
}

function lineText({ line, zone }: NodeOutlook): string {
  if (line === null) return '';
  const { tokens, nextToken } = zone.line;
  const bucket = `${tokens} tokens left, next token: ${describeEstimate(nextToken)}`;
  return describeLine('line', `${line.ahead} ahead, ${line.waiting} waiting; ${bucket}`);
}

function taintText({ noExecuteTaint, line }: NodeOutlook): string {
  if (noExecuteTaint === null) return '';
  const condition = line === null ? ', if nothing is heard of it' : '';
  return describeLine('NoExecute', `${noExecuteTaint.key}: ${describeEstimate(noExecuteTaint.when)}${condition}`);
}

function evictionsText({ evictions }: NodeOutlook): string {
  const { scheduled, predicted, first } = evictions;
  const head = describeLine('evictions', `${scheduled} scheduled, ${predicted} predicted`);
  return `${head}${first.map((eviction) => `    ${describeEviction(eviction)}\n`).join('')}`;
}
