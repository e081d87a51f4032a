// `--controllers`, as in kube-controller-manager: NAME enables, -NAME disables, * enables the defaults; of several entries
// for one controller the first one counts.
import { splitList } from '../flags/split-list.ts';
import { controllerNames, type ControllerSelection } from '../../controller/model/options.ts';

interface Known {
  readonly key: keyof ControllerSelection;
  readonly names: readonly string[];
  /** Pod garbage collection is off by default, because kube-controller-manager keeps running its own. */
  readonly onByDefault: boolean;
}

const known: readonly Known[] = [
  { key: 'nodeLifecycle', names: [controllerNames.nodeLifecycle, 'nodelifecycle'], onByDefault: true },
  { key: 'taintEviction', names: [controllerNames.taintEviction], onByDefault: true },
  { key: 'podGc', names: [controllerNames.podGc, 'podgc'], onByDefault: false },
];

/** The accepted entries, for error messages. */
export const controllerWords = ['*', ...known.flatMap(({ names }) => names)].join(', ');

/** The entries of the list that are not a known controller. */
export function unknownControllers(text: string): readonly string[] {
  const names = known.flatMap((entry) => entry.names);
  return splitList(text).filter((word) => word !== '*' && !names.includes(word.replace(/^-/, '')));
}

export function selectControllers(text: string): ControllerSelection {
  const selected = known.map((entry) => [entry.key, isSelected(entry, splitList(text))]);
  const { nodeLifecycle, taintEviction, podGc } = Object.fromEntries(selected);
  return { nodeLifecycle, taintEviction, podGc };
}

function isSelected({ names, onByDefault }: Known, list: readonly string[]): boolean {
  const word = list.find((candidate) => names.includes(candidate.replace(/^-/, '')));
  if (word !== undefined) return !word.startsWith('-');
  return onByDefault && list.includes('*');
}
