// Node scenarios with their expected results, for any controller.
import type { Toleration } from '../../src/machinery/api/tolerations.ts';
import type { ScriptedCluster } from '../control-plane/scripted-cluster.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { soon } from './release-stand.ts';

const tolerating = (tolerationSeconds: number): Toleration => ({
  key: 'node.kubernetes.io/unreachable',
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

async function addPod(cluster: ScriptedCluster, name: string, node: string, seconds: number): Promise<void> {
  await cluster.addPod(name, node, [tolerating(seconds)]);
}

export async function taintsAre(cluster: ScriptedCluster, node: string, ...taints: readonly string[]): Promise<void> {
  await waitUntil(`${node}: ${taints.join()}`, soon, async () => (await cluster.taints(node)).join() === taints.join());
}

export async function podIsGone(cluster: ScriptedCluster, name: string): Promise<void> {
  await waitUntil(`${name} gone`, soon, async () => (await cluster.pod(name)) === undefined);
}

async function podIsMarked(cluster: ScriptedCluster, name: string): Promise<void> {
  await waitUntil(`${name} marked`, soon, async () =>
    (await cluster.pod(name))?.status.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False'),
  );
}

/** Waits for an Event about an object with this reason and message prefix. */
async function eventRecorded(cluster: ScriptedCluster, about: string, reason: string, begins = ''): Promise<void> {
  await waitUntil(`Event ${reason} about ${about}`, soon, async () =>
    (await cluster.events()).find(
      (event) => event.involvedObject.name === about && event.reason === reason && event.message.startsWith(begins),
    ),
  );
}

/** A node becomes silent: it gets both taints, and a pod that does not tolerate them is evicted. */
export async function stopHeartbeats(cluster: ScriptedCluster, node: string, tag: string): Promise<void> {
  await addPod(cluster, `impatient-${tag}`, node, 0);
  cluster.stopHeartbeats(node);
  await taintsAre(cluster, node, 'unreachable:NoExecute', 'unreachable:NoSchedule');
  await podIsGone(cluster, `impatient-${tag}`);
}

/**
 * A node becomes silent and recovers, twice; a pod that tolerates the taints for a time is marked, and its eviction is
 * cancelled. Twice, because the repeated Events are patches.
 */
export async function becomeSilentTwice(cluster: ScriptedCluster, node: string, tag: string): Promise<void> {
  await addPod(cluster, `patient-${tag}`, node, 600);
  for (const round of [1, 2]) {
    await stopHeartbeats(cluster, node, `${tag}-${round}`);
    await podIsMarked(cluster, `patient-${tag}`);
    await cluster.resumeHeartbeats(node);
    await cluster.postPod(`patient-${tag}`);
    await taintsAre(cluster, node);
    await eventRecorded(cluster, `patient-${tag}`, 'TaintManagerEviction', 'Cancelling deletion of Pod');
  }
  await eventRecorded(cluster, node, 'NodeNotReady');
  await eventRecorded(cluster, `impatient-${tag}-1`, 'TaintManagerEviction', 'Marking for deletion');
}

/** A new node has a taint until it is Ready; its creation and deletion are recorded as Events. */
export async function registerAndDelete(cluster: ScriptedCluster, node: string): Promise<void> {
  await cluster.addNode(node, 'z0');
  await taintsAre(cluster, node);
  await eventRecorded(cluster, node, 'RegisteredNode');
  await cluster.removeNode(node);
  await eventRecorded(cluster, node, 'RemovingNode');
}

/** One node becomes silent, then all others: no pod is evicted, and the NoExecute taint of the first is removed. */
export async function fullDisruption(cluster: ScriptedCluster, nodes: readonly string[], tag: string): Promise<void> {
  const [first = '', ...others] = nodes;
  cluster.stopHeartbeats(first);
  await taintsAre(cluster, first, 'unreachable:NoExecute', 'unreachable:NoSchedule');
  for (const node of others) await addPod(cluster, `stays-${tag}-${node}`, node, 0);
  for (const node of others) cluster.stopHeartbeats(node);
  for (const node of nodes) await taintsAre(cluster, node, 'unreachable:NoSchedule');
  for (const node of others) {
    if ((await cluster.pod(`stays-${tag}-${node}`)) === undefined) throw new Error(`the pod of ${node} was evicted`);
  }
  for (const node of nodes) await cluster.resumeHeartbeats(node);
  for (const node of nodes) await taintsAre(cluster, node);
}
