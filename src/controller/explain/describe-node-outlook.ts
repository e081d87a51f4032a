import {
  describeEstimate,
  describeEviction,
  describeGiven,
  describeHistory,
  describeHolds,
  describeLine,
  describeNext,
  describeSeconds,
  describeTaints,
  describeFlaws,
} from './describe-values.ts';
import { describeZoneState } from './describe-zone-outlook.ts';
import type { NodeEvictionOutlook, NodeOutlook } from './outlook.ts';

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
    describeLine('taints', taintsText(taints)),
    lineText(outlook),
    taintText(outlook),
    evictionText(outlook),
    evictionsText(outlook),
    describeFlaws(outlook.flaws),
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

function taintsText({ carried, wanted }: NodeOutlook['taints']): string {
  const has = `has ${describeTaints(carried)}`;
  return wanted === null ? `${has}; not given or taken here` : `${has}; should have ${describeTaints(wanted)}`;
}

function taintText({ noExecuteTaint }: NodeOutlook): string {
  if (noExecuteTaint === null) return '';
  const { key, when, given } = noExecuteTaint;
  return describeLine('NoExecute', `${key}: ${describeEstimate(when)}, ${describeGiven(given)}`);
}

function evictionText({ eviction }: NodeOutlook): string {
  return eviction === null ? '' : describeLine('eviction', `${eviction.mark}: ${turnText(eviction)}`);
}

function turnText({ due, turn, given }: NodeEvictionOutlook): string {
  if (turn === null) return 'its pods leave, and so does every pod that lands on it, until it is Ready';
  const time = due === null ? '' : `its time is up: ${describeEstimate(due)}; `;
  return `${time}its turn: ${describeEstimate(turn)}, ${describeGiven(given)}`;
}

function evictionsText({ evictions, eviction }: NodeOutlook): string {
  const { scheduled, predicted, spared, first } = evictions;
  const sparedText = eviction === null ? '' : `, ${spared} of DaemonSets spared`;
  const head = describeLine('evictions', `${scheduled} scheduled, ${predicted} predicted${sparedText}`);
  return `${head}${first.map((eviction) => `    ${describeEviction(eviction)}\n`).join('')}`;
}
