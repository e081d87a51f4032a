// `--controllers` of `nlc apiserver`, with the syntax of kube-controller-manager: NAME enables, -NAME disables, * enables all;
// of several entries for one controller the first one counts.
import {
  type ServerControllerName,
  serverControllerNames,
} from '../../../hollow-cluster/apiserver/controllers/controller-names.ts';
import { splitList } from '../../flags/split-list.ts';

/** Enables no controller. */
const none = 'none';

/** The accepted entries, for messages. */
const controllerWords = [none, '*', ...serverControllerNames].join(', ');

export function selectServerControllers(text: string): readonly ServerControllerName[] {
  const list = splitList(text);
  return serverControllerNames.filter((name) => {
    const word = list.find((candidate) => candidate === name || candidate === `-${name}`);
    return word === undefined ? list.includes('*') : word === name;
  });
}

/** One problem, if an entry is unknown. */
export function validateServerControllers(text: string): readonly string[] {
  const known: ReadonlySet<string> = new Set(['*', ...serverControllerNames]);
  const unknown = splitList(text).filter((word) => !known.has(word.replace(/^-/, '')));
  if (text === none || unknown.length === 0) return [];
  const got = unknown.map((word) => JSON.stringify(word)).join(', ');
  return [
    `--controllers: must be a comma-separated list of NAME or -NAME (disabled) of ${controllerWords} (got ${got})`,
  ];
}
