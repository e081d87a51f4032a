// `--controllers`, as kube-controller-manager reads it: names switch on, -names switch off, * is what is on by default;
// of several words about one controller the first counts.
import type { ControllerSelection } from '../controller/options.ts';

interface Known {
  readonly key: keyof ControllerSelection;
  readonly names: readonly string[];
  /** kube-controller-manager goes on collecting pods while its two others are switched off in favour of ours. */
  readonly onByDefault: boolean;
}

const known: readonly Known[] = [
  { key: 'nodeLifecycle', names: ['node-lifecycle-controller', 'nodelifecycle'], onByDefault: true },
  { key: 'taintEviction', names: ['taint-eviction-controller'], onByDefault: true },
  { key: 'podGc', names: ['pod-garbage-collector-controller', 'podgc'], onByDefault: false },
];

/** What a word of the list may be, for whoever got it wrong. */
export const controllerWords = ['*', ...known.flatMap(({ names }) => names)].join(', ');

/** The words of the list that name nothing we know; and an empty list selects nothing, which nobody means. */
export function unknownControllers(text: string): readonly string[] {
  const names = known.flatMap((entry) => entry.names);
  return words(text).filter((word) => word !== '*' && !names.includes(word.replace(/^-/, '')));
}

export function selectControllers(text: string): ControllerSelection {
  const selected = known.map((entry) => [entry.key, isSelected(entry, words(text))]);
  const { nodeLifecycle, taintEviction, podGc } = Object.fromEntries(selected);
  return { nodeLifecycle, taintEviction, podGc };
}

function isSelected({ names, onByDefault }: Known, list: readonly string[]): boolean {
  const word = list.find((candidate) => names.includes(candidate.replace(/^-/, '')));
  if (word !== undefined) return !word.startsWith('-');
  return onByDefault && list.includes('*');
}

function words(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
