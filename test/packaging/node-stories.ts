// What happens to nodes and pods, and what must come of it whoever sees to it.
import type { Toleration } from '../../src/api/tolerations.ts';
import type { ScriptedCluster } from '../control-plane/scripted-cluster.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { soon } from './release-stand.ts';

const tolerating = (tolerationSeconds: number): Toleration => ({
  key: 'node.kubernetes.io/unreachable',
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

export async function addPod(cluster: ScriptedCluster, name: string, node: string, seconds: number): Promise<void> {
  await cluster.addPod(name, node, [tolerating(seconds)]);
}

export async function taintsAre(cluster: ScriptedCluster, node: string, ...taints: readonly string[]): Promise<void> {
  await waitUntil(`${node}: ${taints.join()}`, soon, async () =>
    (await cluster.taints(node)).join() === taints.join() ? true : undefined,
  );
}

export async function podIsGone(cluster: ScriptedCluster, name: string): Promise<void> {
  await waitUntil(`${name} gone`, soon, async () => ((await cluster.pod(name)) === undefined ? true : undefined));
}

export async function podIsMarked(cluster: ScriptedCluster, name: string): Promise<void> {
  await waitUntil(`${name} marked`, soon, async () =>
    (await cluster.pod(name))?.status.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False'),
  );
}

/** Waits for an event about an object: its reason, and how its message begins. */
export async function isTold(cluster: ScriptedCluster, about: string, reason: string, begins = ''): Promise<void> {
  await waitUntil(`${reason} told of ${about}`, soon, async () =>
    (await cluster.events()).find(
      (event) => event.involvedObject.name === about && event.reason === reason && event.message.startsWith(begins),
    ),
  );
}

/** Silent: Unknown, both taints, and a pod that bears neither goes. */
export async function goDark(cluster: ScriptedCluster, node: string, tag: string): Promise<void> {
  await addPod(cluster, `impatient-${tag}`, node, 0);
  cluster.goDark(node);
  await taintsAre(cluster, node, 'unreachable:NoExecute', 'unreachable:NoSchedule');
  await podIsGone(cluster, `impatient-${tag}`);
}

/**
 * Silent, back, and again; a pod that bears the taints for a time is marked, and its time is cancelled. Twice, because the
 * second time the same events are told again: as patches.
 */
export async function goDarkTwice(cluster: ScriptedCluster, node: string, tag: string): Promise<void> {
  await addPod(cluster, `patient-${tag}`, node, 600);
  for (const round of [1, 2]) {
    await goDark(cluster, node, `${tag}-${round}`);
    await podIsMarked(cluster, `patient-${tag}`);
    await cluster.comeBack(node);
    await cluster.postPod(`patient-${tag}`);
    await taintsAre(cluster, node);
    await isTold(cluster, `patient-${tag}`, 'TaintManagerEviction', 'Cancelling deletion of Pod');
  }
  await isTold(cluster, node, 'NodeNotReady');
  await isTold(cluster, `impatient-${tag}-1`, 'TaintManagerEviction', 'Marking for deletion');
}

/** A node that registers has a taint until it is seen to be ready; one that is deleted is told of. */
export async function comeAndGo(cluster: ScriptedCluster, node: string): Promise<void> {
  await cluster.addNode(node, 'z0');
  await taintsAre(cluster, node);
  await isTold(cluster, node, 'RegisteredNode');
  await cluster.removeNode(node);
  await isTold(cluster, node, 'RemovingNode');
}

/** One node dark, then every other one: nobody is sent away any more, and the taint of the first is taken back. */
export async function wholeOutage(cluster: ScriptedCluster, nodes: readonly string[], tag: string): Promise<void> {
  const [first = '', ...others] = nodes;
  cluster.goDark(first);
  await taintsAre(cluster, first, 'unreachable:NoExecute', 'unreachable:NoSchedule');
  for (const node of others) await addPod(cluster, `stays-${tag}-${node}`, node, 0);
  for (const node of others) cluster.goDark(node);
  for (const node of nodes) await taintsAre(cluster, node, 'unreachable:NoSchedule');
  for (const node of others) {
    if ((await cluster.pod(`stays-${tag}-${node}`)) === undefined) throw new Error(`the pod of ${node} was sent away`);
  }
  for (const node of nodes) await cluster.comeBack(node);
  for (const node of nodes) await taintsAre(cluster, node);
}
