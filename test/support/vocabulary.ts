// Words that Kubernetes engineers do not use in names, messages, comments and documents, and what to use instead.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One word or phrase, and its replacement. */
interface Finding {
  readonly path: string;
  readonly line: number;
  readonly found: string;
  readonly use: string;
}

/** Each pattern is matched against lower-case text whose compound identifiers are split into words. */
const replacements: readonly (readonly [pattern: string, use: string])[] = [
  ['nobody|no one|anybody|everybody|somebody|anyone|everyone|someone', 'the component or object that is meant'],
  ['whoever|whomever', 'the component or object that is meant'],
  ['anew', 'again'],
  ['told|tell|tells|telling', 'reported, recorded, sent, configured'],
  ['pardon(?:s|ed)?|forgiv(?:e|es|en|ing)', 'remove the taint, clear'],
  ['eyes|mouth|ears', 'watch streams'],
  ['of (?:its|their) own accord', 'by itself, without a request'],
  ['let in|lets in', 'allow, authorize'],
  ['is no more|are no more', 'was deleted, has ended'],
  ['by why', 'by reason'],
  ['thought of', 'considered'],
  ['we|our|ours|ourselves|theirs', 'the name of the component'],
  ['(?<= )us', 'the name of the component; the unit is µs'],
  ['the reference', 'kube-controller-manager (or kubelet)'],
  ['blind|blindness|blinded|blinds', 'stale, paused'],
  ['sight|sights|sighted', 'freshness, observed'],
  ['verdict|verdicts', 'assessment'],
  ['fell silent|fallen|fell', 'became silent, decreased'],
  ['rung|rungs|ladder|climb|climbs', 'backoff'],
  ['circle|circles|turnstile|grave|narrator|rehearsal', 'the technical term'],
  ['judge|judges|judged|judging|judgement', 'evaluate'],
  [
    'believe|believes|believed|trusts|wish|wishes|wished|thinks|mistrust',
    'code does not believe or wish: say what it does',
  ],
  ['oddity|oddities|odd', 'warning, malformed, unusual'],
  ['strangers|stranger', 'unauthenticated clients'],
  ['appointment|appointments', 'timed eviction'],
  ['heard|hears|unheard|overhear|deaf', 'renewed its lease, received'],
  ['speaks|spoken|spoke|speak|mute', 'reports, serves, supports'],
  // Also a value of CSS, and the theme of a page.
  [`(?<!light )dark(?!['")]| theme|\\.png)`, 'unhealthy, unreachable, silent'],
  ['reckoning|reckon|reckons|reckoned', 'calculation, reason'],
  ['refusals|flaws|flaw', 'API errors, validation problems'],
];

const pattern = new RegExp(`(?<!\\p{L})(?:${replacements.map(([words]) => `(${words})`).join('|')})(?![\\p{L}])`, 'gu');

/** `SightClock`, `sightClock`, `sight_clock` and `sight-clock` as words in lower case. */
function wordsOf(text: string): string {
  return text
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/gu, ' ')
    .replaceAll(/[_-]/gu, ' ')
    .toLowerCase();
}

/** Messages of upstream components, which must stay as they are. */
const upstreamMessages = ['the server rejected our request due to an error in our request'];

function withoutQuotes(path: string, text: string): string {
  // The changelog names what was renamed.
  const plain = path === 'CHANGELOG.md' ? text.replaceAll(/`[^`]*`/gu, '') : text;
  return upstreamMessages.reduce((rest, message) => rest.replaceAll(message, ''), plain);
}

/** The findings in one text; line 0 is the path, lines count from 1. */
export function findingsIn(path: string, text: string): readonly Finding[] {
  const lines = [wordsOf(path), ...withoutQuotes(path, text).split('\n').map(wordsOf)];
  return lines.flatMap((line, index) =>
    [...line.matchAll(pattern)].map(([found, ...groups]) => {
      const use = replacements[groups.findIndex((group) => group !== undefined)]?.[1] ?? '';
      return { path, line: index, found, use };
    }),
  );
}

/** Sources and documents, without recordings of other programs. */
export function readableFiles(root: string): readonly string[] {
  return globSync(
    [
      '{src,test,tools,packaging,charts,docs,manifests}/**/*.{ts,md,yaml,yml,json,tpl,txt}',
      '*.{md,json,cjs}',
      '{.ci,.githooks}/*',
      '.github/**/*.md',
    ],
    { cwd: root, exclude: ['**/golden/**', '**/golden*.json', 'package-lock.json', '**/recorded/**'] },
  )
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** All findings below some paths of the project. */
export function findings(root: string, below: readonly string[] = ['']): readonly Finding[] {
  return readableFiles(root)
    .filter((path) => !/vocabulary(?:\.test)?\.ts$/u.test(path) && below.some((start) => path.startsWith(start)))
    .flatMap((path) => findingsIn(path, readFileSync(join(root, path), 'utf8')));
}
