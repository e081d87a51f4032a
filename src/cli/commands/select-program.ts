import { ownValue } from '../../machinery/api/json-map.ts';

const pluginNames: Readonly<Record<string, readonly string[]>> = {
  'kubectl-node_lifecycle': ['kubectl'],
  'kubectl_complete-node_lifecycle': ['kubectl', '__complete'],
};

/** The arguments of `nlc` for a program that was started by this path: kubectl starts plugins by the name of their file. */
export function selectArguments(path: string, argv: readonly string[]): readonly string[] {
  const name = (path.split(/[/\\]/).at(-1) ?? '').replace(/\.(?:js|ts|mjs|cmd|exe)$/, '');
  return [...(ownValue(pluginNames, name) ?? []), ...argv];
}
