// Nodes that exist for a short time, under names that are used once, as an autoscaler has them: what the controller
// remembers of them must not grow.
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { toleratesHealthFor } from '../../../src/simulator/cluster/workload.ts';
import type { Storage } from '../../../src/simulator/server/storage.ts';
import { wallStartMs, type World } from '../../../src/simulator/world.ts';
import type { ClusterFault } from './world-fault.ts';

type TemporaryNodes = Extract<ClusterFault, { kind: 'temporary-nodes' }>;
type Try = (act: () => void) => void;

/** In seconds, by pod of a node: how long it tolerates the health taints. */
const tolerated = [0, 20, 600] as const;

/** Creates the nodes and their pods. Returns the function that deletes the nodes; their pods are left. */
export function addTemporaryNodes({ storage, timeline }: World, fault: TemporaryNodes, attempt: Try): () => void {
  const names = Array.from({ length: fault.count }, (_, index) => `${fault.prefix}-${index + 1}`);
  const nowText = formatTime(wallStartMs + timeline.nowMs);
  for (const name of names) attempt(() => addNode(storage, { name, zone: fault.zone, nowText }));
  return () => {
    for (const name of names) attempt(() => storage.delete('nodes', { name }));
  };
}

interface TemporaryNode {
  readonly name: string;
  readonly zone: string;
  readonly nowText: string;
}

function addNode(storage: Storage, { name, zone, nowText }: TemporaryNode): void {
  const ready = readyCondition(nowText);
  storage.create('nodes', {
    metadata: { name, labels: { 'topology.kubernetes.io/zone': zone, 'topology.kubernetes.io/region': 'r' } },
    status: { conditions: [{ ...ready, lastHeartbeatTime: nowText, reason: 'KubeletReady', message: 'ready' }] },
  } as Parameters<Storage['create']>[1]);
  for (const [index, seconds] of tolerated.entries())
    addPod(storage, { name: `${name}-${index}`, node: name, seconds });
  for (const index of tolerated.keys()) {
    const status = { phase: 'Running', conditions: [ready] };
    storage.merge('pods', { namespace: 'default', name: `${name}-${index}` }, { status }, 'status');
  }
}

function addPod(
  storage: Storage,
  { name, node, seconds }: { readonly name: string; readonly node: string; readonly seconds: number },
): void {
  storage.create('pods', {
    metadata: { name, namespace: 'default' },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 2,
      containers: [{ name: 'c', image: 'i:1' }],
      tolerations: toleratesHealthFor(seconds),
    },
  } as Parameters<Storage['create']>[1]);
}

function readyCondition(nowText: string): {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
} {
  return { type: 'Ready', status: 'True', lastTransitionTime: nowText };
}
