import type { StoryRun } from './run-stories.ts';
import type { Actor } from './stage.ts';

const actors: readonly Actor[] = ['node-lifecycle-controller', 'kube-controller-manager'];

/** What was measured in all rounds as a table of Markdown: median, and the least and the most; empty if nothing was. Late times count. */
export function formatTimes(runs: readonly StoryRun[]): string {
  const rows = [...new Set(runs.map(({ story }) => story))].flatMap((story) => rowsOf(story, runs));
  if (rows.length === 0) return '';
  return [
    '| story | seconds until | node-lifecycle-controller | kube-controller-manager |',
    '| --- | --- | ---: | ---: |',
  ]
    .concat(rows)
    .join('\n');
}

function rowsOf(story: string, runs: readonly StoryRun[]): readonly string[] {
  const own = runs.filter((run) => run.story === story);
  const measured = [...new Set(own.flatMap(({ times }) => Object.keys(times)))];
  return measured.map((what) => {
    const cells = actors.map((actor) => {
      const ofActor = own.filter((run) => run.actor === actor);
      return formatSeconds(ofActor.flatMap(({ times }) => times[what] ?? []));
    });
    return `| ${story} | ${what} | ${cells.join(' | ')} |`;
  });
}

function formatSeconds(seconds: readonly number[]): string {
  const sorted = seconds.toSorted((one, other) => one - other);
  const [least] = sorted;
  if (least === undefined) return '-';
  const upper = sorted[Math.floor(sorted.length / 2)] ?? least;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? least;
  const median = ((lower + upper) / 2).toFixed(1);
  return sorted.length === 1
    ? median
    : `${median} (${least.toFixed(1)} to ${sorted.at(-1)?.toFixed(1)}, ${sorted.length})`;
}
