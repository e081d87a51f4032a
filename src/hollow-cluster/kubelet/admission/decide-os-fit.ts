import type { Node } from '../../../machinery/api/node.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { PodAdmission } from '../machine/decide-pressure-admission.ts';

const osLabel = 'kubernetes.io/os';
const linux = 'linux';

/**
 * The rejection of a pod for another operating system than the node's: by the pod's own label `kubernetes.io/os`, then
 * by `spec.os`. Undefined: it may run here (kubelet `rejectPodAdmissionBasedOnOSSelector`, `...OSField`).
 */
export function decideOsFit({ metadata, spec }: Pod, node: Node): PodAdmission | undefined {
  const os = osOf(node);
  if ((metadata.labels?.[osLabel] ?? os) !== os) {
    return refuse('PodOSSelectorNodeLabelDoesNotMatch', "the `kubernetes.io/os` label doesn't match node label");
  }
  if ((spec?.os?.name ?? os) !== os) return refuse('PodOSNotSupported', "the OS field doesn't match node OS");
  return undefined;
}

/** As the kubelet reports it; its label may have been changed by others. */
function osOf({ status }: Node): string {
  return status?.nodeInfo?.operatingSystem ?? linux;
}

function refuse(reason: string, why: string): PodAdmission {
  return { admitted: false, reason, message: `Failed to admit pod as ${why}` };
}
