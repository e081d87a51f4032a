// Which addresses are asked whether a machine is there.
import type { NodeView } from '../../machinery/api/node.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import type { DialTarget } from '../../machinery/ports/dialer.ts';

/** Of a pod that declares no port: a closed port answers too. */
const anyPort = 80;

/** The port of the kubelet at each address of a node. */
export function buildKubeletTargets({ reachedAt }: Pick<NodeView, 'reachedAt'>): readonly DialTarget[] {
  return (reachedAt?.addresses ?? []).map((address) => ({ address, port: reachedAt?.port ?? 0 }));
}

/** The first port of a pod; undefined: it has no address of its own. */
export function buildPodTarget({ spec, status = {} }: Pick<Pod, 'spec' | 'status'>): DialTarget | undefined {
  const { podIP: address } = status;
  if (address === undefined || address === '' || spec?.hostNetwork === true) return undefined;
  const ports = (spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const port = ports.find(({ protocol = 'TCP' }) => protocol === 'TCP')?.containerPort;
  return { address, port: port ?? anyPort };
}
