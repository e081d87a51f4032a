// docs/differences.md: the differences of the decision records, one table per area.
import { readMeasured } from './measured-faults.ts';
import {
  differenceAreas,
  type KeptLimitation,
  readDifferences,
  readKeptLimitations,
  type RecordedDifference,
} from './difference-records.ts';

const introduction = `# Differences from kube-controller-manager

This page lists where this controller differs from the node lifecycle, taint eviction and pod garbage collection controllers
in kube-controller-manager. It is generated from the decision records by \`npm run docs\`. It compares with release 1.37, and
for the eviction mode with the last releases that had it, 1.26 and before. A row with _1.37_ is about the lease that it reads
before it marks a node Unknown (\`NodeControllerLeaseCircuitBreaker\`, kubernetes#138698); before 1.37 the cache was the evidence.

Everything else is intended to be the same, and is tested: recorded results of kube-controller-manager are compared with this
code (\`npm run vectors\`), and the same steps run on both controllers (\`npm run test:control-plane\`). A difference without a
record fails both.

Two things are easily taken for differences and are the same in both. Completed pods (Succeeded or Failed) are deleted like running ones
when their node is tainted NoExecute, with what was in their logs, unless they tolerate it or a policy sets [keepCompletedPods](policies.md#completed-pods). And a
toleration that becomes longer while its taint is present does not postpone the deletion.

Column _shown by_: a number is a [known limitation of kube-controller-manager](decisions/0019-known-limitations.md),
which names its test; other entries are ids in \`test/vectors\`. For entries without one (–) see the record.
`;

export function differencesPage(): string {
  const differences = readDifferences();
  const sections = differenceAreas.map((area) => sectionOf(area, differences));
  const last = [keptSection(readKeptLimitations()), measuredSection()];
  return `${[introduction, ...sections, ...last].join('\n').trimEnd()}\n`;
}

function sectionOf(area: string, differences: readonly RecordedDifference[]): string {
  const rows = differences.filter((each) => each.area === area).map(rowOf);
  const title = `${area.charAt(0).toUpperCase()}${area.slice(1)}`;
  const heading = [
    '| in kube-controller-manager | here | why | record | shown by |',
    '| --- | --- | --- | --- | --- |',
  ];
  return [`## ${title}`, '', ...heading, ...rows, ''].join('\n');
}

function rowOf({ record, reference, here, why, limitations, vectors }: RecordedDifference): string {
  const link = `[${record.slice(0, 4)}](decisions/${record})`;
  const shownBy = [...limitations.map(String), ...vectorTexts(vectors)].join(', ');
  return `| ${[reference, here, why].map(fromDocs).join(' | ')} | ${link} | ${shownBy === '' ? '–' : shownBy} |`;
}

/** Links in a record are relative to docs/decisions. */
function fromDocs(text: string): string {
  return text.replaceAll('](../../', '](../').replaceAll(/\]\((?=\d{4}-)/gu, '](decisions/');
}

/** Several ids of one area are abbreviated to the first and their number. */
function vectorTexts(vectors: readonly string[]): readonly string[] {
  const areas = Map.groupBy(vectors, (id) => id.slice(0, id.lastIndexOf('-')));
  return [...areas.values()].map(([first, ...others]) => {
    return others.length === 0 ? `\`${first}\`` : `\`${first}\` and ${others.length} more of its area`;
  });
}

function keptSection(kept: readonly KeptLimitation[]): string {
  return [
    '## Intentionally kept',
    '',
    'Known limitations of kube-controller-manager that are the same here:',
    '',
    '| number | in kube-controller-manager and here | why |',
    '| --- | --- | --- |',
    ...kept.map(({ number, reference, here }) => `| ${number} | ${reference} | ${reasonOf(here)} |`),
    '',
  ].join('\n');
}

function measuredSection(): string {
  const { record, text } = readMeasured();
  return [
    '## Faults played on both',
    '',
    fromDocs(text),
    '',
    `More in [${record.slice(0, 4)}](decisions/${record}).`,
  ].join('\n');
}

function reasonOf(here: string): string {
  return here.replace(/^(behaviour )?kept[:;,]?\s*/u, '');
}
