import type { Outcome } from './episode.ts';
import type { EpisodeReport, ShadowReport } from './report.ts';

const actColumns = 22;
const countColumns = 10;

/** The comparison as a page for people: the same values, in words. */
export function describeReport(report: ShadowReport): string {
  const { at, since, toleranceSeconds, waitSeconds, totals, open, waiting, undecided, episodes } = report;
  const divergent = episodes.filter(({ outcome }) => outcome !== 'agree');
  return [
    `shadow: nothing is written; compared since ${since} (${at})\n`,
    `  acts within ${toleranceSeconds} s of each other agree; the other's act is waited for ${waitSeconds} s\n`,
    `  ${'act'.padEnd(actColumns)}${Object.keys(totals['node-unknown']).map(cell).join('')}\n`,
    ...Object.entries(totals).map(([act, counts]) => {
      return `  ${act.padEnd(actColumns)}${Object.values(counts).map(cell).join('')}\n`;
    }),
    `  open ${open}, undecided ${undecided}\n`,
    ...waiting.map(({ act, subject, by, since }) => `    ${subject} ${act}: by ${by} since ${since}\n`),
    divergent.length === 0 ? '  no differences among the last episodes\n' : '  differences, newest first\n',
    ...divergent.map((episode) => `    ${describeEpisode(episode)}\n`),
  ].join('');
}

function cell(value: string | number): string {
  return String(value).padStart(countColumns);
}

/** One episode in a line. */
export function describeEpisode(episode: EpisodeReport): string {
  const { act, subject, outcome, ours, theirs, why } = episode;
  const when = `${ours ?? 'never'} by us, ${theirs ?? 'never'} by them`;
  return `${subject} ${act}: ${describeOutcome(episode, outcome)} (${when}); ${why ?? 'we decided nothing about it'}`;
}

const endings: Readonly<Record<EpisodeReport['ending'], string>> = {
  followed: '',
  'taken-back': ', taken back before the other followed',
  'cause-gone': ', its cause went away',
  'time-out': ', nobody followed in time',
};

function describeOutcome({ differenceSeconds, ending }: EpisodeReport, outcome: Outcome): string {
  const by = differenceSeconds === null ? '' : ` by ${Number(differenceSeconds.toFixed(1))} s`;
  return `${outcome.replace('_', ' ')}${by}${endings[ending]}`;
}
