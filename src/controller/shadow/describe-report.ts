import { escapeLine } from '../../machinery/api/format-safe-text.ts';
import type { Agreement } from './episode.ts';
import type { EpisodeReport, ShadowReport } from './report.ts';

const actColumns = 22;
const countColumns = 14;

/** The comparison as text: the same values as the JSON. */
export function describeReport(report: ShadowReport): string {
  const { at, since, toleranceSeconds, waitSeconds, totals, open, waiting, undecided, episodes } = report;
  const divergent = episodes.filter(({ outcome }) => outcome !== 'agree');
  const lines = [
    `shadow mode: nothing is written; compared since ${since} (${at})`,
    `  actions within ${toleranceSeconds}s of each other agree; an action of one side waits ${waitSeconds}s for the other`,
    `  ${'action'.padEnd(actColumns)}${Object.keys(totals['node-unknown']).map(cell).join('')}`,
    ...Object.entries(totals).map(([act, counts]) => {
      return `  ${act.padEnd(actColumns)}${Object.values(counts).map(cell).join('')}`;
    }),
    `  open ${open}, undecided ${undecided}`,
    ...waiting.map(({ act, subject, by, since }) => `    ${subject} ${act}: by ${by} since ${since}`),
    divergent.length === 0 ? '  no differences among the last episodes' : '  differences, newest first',
    ...divergent.map((episode) => `    ${describeEpisode(episode)}`),
  ];
  return lines.map((line) => `${escapeLine(line)}\n`).join('');
}

function cell(value: string | number): string {
  return String(value).padStart(countColumns);
}

/** One episode as a line of text. */
function describeEpisode(episode: EpisodeReport): string {
  const { act, subject, outcome, shadowAt, clusterAt, why } = episode;
  const when = `shadow: ${shadowAt ?? 'never'}, cluster: ${clusterAt ?? 'never'}`;
  return `${subject} ${act}: ${describeOutcome(episode, outcome)} (${when}); ${why ?? 'no decision by the shadow'}`;
}

const endings: Readonly<Record<EpisodeReport['ending'], string>> = {
  followed: '',
  'taken-back': ', reverted before the other followed',
  'cause-gone': ', its cause ended',
  'time-out': ', the other did not follow in time',
};

const outcomeWords: Readonly<Record<Agreement, string>> = {
  agree: 'agree',
  earlier: 'shadow earlier',
  later: 'shadow later',
  only_shadow: 'shadow only',
  only_cluster: 'cluster only',
};

function describeOutcome({ differenceSeconds, ending }: EpisodeReport, outcome: Agreement): string {
  const by = differenceSeconds === null ? '' : ` by ${Number(differenceSeconds.toFixed(1))}s`;
  return `${outcomeWords[outcome]}${by}${endings[ending]}`;
}
