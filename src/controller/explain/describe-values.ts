// Small values in words, shared by the pages for people.
import type { Taint } from '../../api/taints.ts';
import type {
  Estimate,
  EvictionCause,
  EvictionOutlook,
  Given,
  HistoryLine,
  Hold,
  NextAction,
  Unblocker,
} from './outlook.ts';

const labelColumns = 11;

/** One line of a page: what it is about, and what there is to say. */
export function describeLine(label: string, text: string): string {
  return `  ${label.padEnd(labelColumns)}${text}\n`;
}

export function describeSeconds(seconds: number): string {
  return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
}

export function describeEstimate({ at, inSeconds }: Estimate): string {
  if (at === null || inSeconds === null) return 'not while things are as they are';
  return inSeconds === 0 ? 'now' : `in about ${describeSeconds(inSeconds)} (${at})`;
}

export function describeTaints(taints: readonly Taint[]): string {
  return taints.length === 0 ? 'none' : taints.map(({ key, effect }) => `${key}:${effect}`).join(', ');
}

const acts: Readonly<Record<NextAction['act'], (subject: string) => string>> = {
  'mark-unknown': () => 'its conditions become Unknown',
  'change-taints': (subject) => `taints change: ${subject}`,
  'add-taint': (subject) => `it gets ${subject}`,
  'evict-node': () => 'its pods are deleted',
  'evict-pod': (subject) => `pod ${subject} is evicted`,
  'collect-pod': (subject) => `pod ${subject} is deleted without grace`,
  none: () => 'nothing',
};

export function describeNext({ act, subject, given, when }: NextAction): string {
  const what = acts[act](subject ?? '');
  if (when === null) return what;
  return `${what}: ${describeEstimate(when)}, ${describeGiven(given)}`;
}

export function describeGiven(given: Given): string {
  return given === 'nothing-heard' ? 'if nothing is heard of it' : 'if nothing changes';
}

export function describeHold(hold: Hold): string {
  return `${reasonOf(hold)}; would end: ${hold.unblockedBy.map((way) => unblockerText(way)).join(', or ')}`;
}

function reasonOf(hold: Hold): string {
  switch (hold.kind) {
    case 'not-leader':
      return 'this replica does not lead, so it does nothing and judges no zone';
    case 'shadow':
      return 'this process is a shadow: it writes nothing, and what is told here is what it would do';
    case 'blind':
      return `we do not trust what we see (${hold.reason}), so no node is called silent`;
    case 'unconfirmed':
      return 'it looks silent, and the API server could not be asked for its lease';
    case 'not-run':
      return `this process does not run the ${hold.part}, so nothing that it does is foreseen here`;
    case 'node-unanswered':
      return `the API server could not be asked whether node ${hold.node} is gone`;
    case 'every-zone-dark':
      return 'every zone is dark, so nobody is tainted or evicted';
    case 'outage':
      return `${hold.why.outage}: ${hold.why.together} of ${hold.why.of} nodes in ${hold.why.zonesStruck} of ${hold.why.zones} zones fell silent together, so pods stay ready and no node is tainted NoExecute or evicted`;
    case 'zone-stopped':
      return `the line of zone ${hold.zone} is stopped (${hold.rule})`;
  }
}

function unblockerText(way: Unblocker): string {
  switch (way.kind) {
    case 'ask-leader':
      return way.holder === null ? 'somebody leads' : `ask the leader, ${way.holder}`;
    case 'contact-with-api':
      return 'contact with the API server is back and everybody had time to be heard';
    case 'time':
      return `time is up ${describeEstimate(way.when)}`;
    case 'permission':
      return `we are permitted ${way.needed}`;
    case 'nodes-ready':
      return `${way.count} of the unready nodes of ${way.zone === null ? 'any zone' : `zone ${way.zone}`} ready again`;
    case 'api-answers':
      return 'the API server answers';
    case 'flag':
      return `--${way.flag} ${way.wanted}`;
  }
}

export function describeEviction({ pod, state, cause, when }: EvictionOutlook): string {
  return `${pod} ${causeText(cause)}; eviction ${state}: ${describeEstimate(when)}`;
}

function causeText(cause: EvictionCause): string {
  if (cause.kind === 'node-evicted') return 'leaves with all pods of its node';
  const { taint, toleratedSeconds } = cause;
  return toleratedSeconds === 0 ? `does not tolerate ${taint}` : `tolerates ${taint} for ${toleratedSeconds} s`;
}

export function describeFlaws(flaws: readonly string[]): string {
  return flaws.map((flaw) => describeLine('malformed', flaw)).join('');
}

export function describeHistory(history: readonly HistoryLine[]): string {
  if (history.length === 0) return describeLine('history', 'none');
  return `  history\n${history.map(({ at, text }) => `    ${at}  ${text}\n`).join('')}`;
}

export function describeHolds(holds: readonly Hold[]): string {
  if (holds.length === 0) return describeLine('holds', 'none');
  return holds.map((hold) => describeLine('held', describeHold(hold))).join('');
}
