// What kubectl printed, in a form that is equal for every run and server that answers the same.
import type { KubectlOutcome } from './kubectl-run.ts';

/** The result of one command, without what differs between two runs. */
export interface KubectlAnswer {
  readonly code: number | null;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
}

/** `url` is the server's; with `sorted` the lines of each output are sorted, and the parts of each warning. */
export function toAnswer({ code, stdout, stderr }: KubectlOutcome, url: string, sorted = false): KubectlAnswer {
  const lines = (text: string): readonly string[] => {
    const all = normalize(text, url).split('\n');
    return sorted ? all.map(sortWarning).toSorted() : all;
  };
  return { code, stdout: lines(stdout), stderr: lines(stderr) };
}

const warning = 'Warning: ';

/** kubectl drain keeps its warnings in a map. */
function sortWarning(line: string): string {
  if (!line.startsWith(warning)) return line;
  return `${warning}${line.slice(warning.length).split('; ').toSorted().join('; ')}`;
}

/** Ids, times, versions and addresses, which differ in each run, as placeholders. */
const placeholders: readonly (readonly [RegExp, string])[] = [
  [/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<uid>'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, '<time>'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, '<time>'],
  [/^[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, '<log> '],
  [/(?<!cpu: *)(?<= {2}|\t|\(|^)(\d+[smhd]){1,2}(?=[\s)]|$)/gm, '<age>'],
  [/(?<=over )(\d+[smhd]){1,2}(?=\))/g, '<age>'],
  [/(?<=resourceVersion"?: ")\d+/g, '<version>'],
  [/(?<=\/tmp\/)(LIVE|MERGED)-\d+/g, '$1'],
  [/(?<=kubectl-edit-)\d+/g, '<number>'],
  // The width of columns depends on the ages in them.
  [/(?<=\S) {2,}/g, '  '],
];

function normalize(text: string, url: string): string {
  const { host, hostname } = new URL(url);
  const local = text.replaceAll(url, '<server>').replaceAll(host, '<host>').replaceAll(`//${hostname}`, '//<host>');
  return placeholders.reduce((each, [pattern, name]) => each.replaceAll(pattern, name), local);
}
