import { keyOf } from '../../api/object-key.ts';
import type { Pod } from '../../api/pod.ts';

/** The pods of all files, by the files' names. Where two give a pod of one name, the later file's is taken. */
export function deriveCurrentPods(files: ReadonlyMap<string, { readonly pods: readonly Pod[] }>): readonly Pod[] {
  const pods = new Map<string, Pod>();
  for (const name of [...files.keys()].sort()) {
    for (const pod of files.get(name)?.pods ?? []) pods.set(keyOf(pod.metadata), pod);
  }
  return [...pods.values()];
}
