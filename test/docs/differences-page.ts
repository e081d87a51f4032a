// docs/differences.md: what the decision records list, one table an area.
import {
  differenceAreas,
  type KeptLimitation,
  readDifferences,
  readKeptLimitations,
  type RecordedDifference,
} from './difference-records.ts';

const introduction = `# Differences from kube-controller-manager

What this controller does otherwise than the node lifecycle, taint eviction and pod garbage collection controllers in
kube-controller-manager, made from the decision records by \`npm run docs\`. The reference is release 1.36, and for eviction
mode the last releases that had it, 1.26 and before. A later release may have mended some of it: 1.37 looks at a node's lease
itself before it calls the node silent (kubernetes#138698).

What is not listed is meant to be the same, and is compared: the reference's answers are run as data against this code
(\`npm run vectors\`), and one story is played beside the real kube-controller-manager (\`npm run test:control-plane\`). A
difference without a record fails both.

Column _shown by_: a number is a [known limitation of the reference](decisions/0019-limitations-of-the-reference.md), there with the test
that fails on its behaviour; the rest are ids in \`test/vectors\`. For the others (–) the record says more.
`;

export function differencesPage(): string {
  const differences = readDifferences();
  const sections = differenceAreas.map((area) => sectionOf(area, differences));
  return `${[introduction, ...sections, keptSection(readKeptLimitations())].join('\n').trimEnd()}\n`;
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

/** Links in a record lead from docs/decisions. */
function fromDocs(text: string): string {
  return text.replaceAll('](../../', '](../').replaceAll(/\]\((?=\d{4}-)/gu, '](decisions/');
}

/** Many of one area are named by their first and their number. */
function vectorTexts(vectors: readonly string[]): readonly string[] {
  const areas = Map.groupBy(vectors, (id) => id.slice(0, id.lastIndexOf('-')));
  return [...areas.values()].map(([first, ...others]) => {
    return others.length === 0 ? `\`${first}\`` : `\`${first}\` and ${others.length} more of its area`;
  });
}

function keptSection(kept: readonly KeptLimitation[]): string {
  return [
    '## Kept on purpose',
    '',
    'Known limitations of the reference that are the same here:',
    '',
    '| number | in kube-controller-manager and here | why |',
    '| --- | --- | --- |',
    ...kept.map(({ number, reference, here }) => `| ${number} | ${reference} | ${reasonOf(here)} |`),
    '',
  ].join('\n');
}

function reasonOf(here: string): string {
  return here.replace(/^(behaviour )?kept[:;,]?\s*/u, '');
}
