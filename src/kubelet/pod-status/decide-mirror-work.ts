import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import { isMirrorOf } from '../pod-config/classify-pod.ts';

/** What is to be done about a mirror: first the one, then, where the first was done, the other. */
export interface MirrorWork {
  readonly deletes: boolean;
  readonly creates: boolean;
}

/**
 * A mirror that shows something else than the pod, or is being deleted, is replaced; one that is missing is created.
 * Without a node, or while the node is being deleted, none is created: its owner would be gone.
 */
export function decideMirrorWork(pod: Pod, mirror: Pod | undefined, node: Node | undefined): MirrorWork {
  const deletes = mirror !== undefined && (isDeleted(mirror) || !isMirrorOf(mirror, pod));
  const owned = node !== undefined && !isDeleted(node);
  return { deletes, creates: owned && (deletes || mirror === undefined) };
}

function isDeleted({ metadata }: Pod | Node): boolean {
  return (metadata.deletionTimestamp ?? '') !== '';
}
