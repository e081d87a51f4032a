import type { NodeName } from '../machine/settings.ts';

interface PodOptions {
  /** Seconds for which it tolerates a dead node; undefined: for ever. */
  readonly toleratesSeconds: number | undefined;
}

/** The manifest of a pod of the namespace of the workload that is bound to a node, without the scheduler. It is its own app. */
export function podOn(node: NodeName, name: string, { toleratesSeconds }: PodOptions): string {
  const seconds = toleratesSeconds === undefined ? {} : { tolerationSeconds: toleratesSeconds };
  const tolerations = ['unreachable', 'not-ready'].map((key) => {
    return { key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', ...seconds };
  });
  const container = {
    name: 'app',
    image: 'cluster.local/workload:1',
    imagePullPolicy: 'Never',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
  const spec = { nodeName: node, terminationGracePeriodSeconds: 5, securityContext, tolerations };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels: { app: name } },
    spec: { ...spec, containers: [container] },
  });
}
