import type { PodSourceName } from './pod-update.ts';

const all = '*';
const known: readonly PodSourceName[] = ['file', 'http', 'api'];

/**
 * The sources that a configuration names, each once; `*` means all of them (kubelet `types.GetValidatedSources`). Throws
 * a RangeError for a name that is none, the empty one included.
 */
export function derivePodSources(names: readonly string[]): readonly PodSourceName[] {
  const unknown = names.find((name) => name !== all && !isSource(name));
  if (unknown !== undefined) throw new RangeError(`pod source: got "${unknown}"; accepted: ${known.join(', ')}, *`);
  return names.includes(all) ? known : known.filter((source) => names.includes(source));
}

function isSource(name: string): boolean {
  return known.some((source) => source === name);
}
