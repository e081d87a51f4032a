// A StatefulSet with a volume on a node that loses power: the volume stays attached there until the taint out-of-service is added.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accounts, auditedWrites } from '../audit-log.ts';
import { type NodeName, nodeNames } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import { isServing, nodeOf } from '../timeline.ts';
import type { Times } from './story.ts';

/** The node of the ledger, as long as it can. */
export const ledgerNode = 'n3';
export const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

const volume = 'ledger';
const manifest = join(import.meta.dirname, '..', 'ledger.yaml');
/** Who deletes a pod: first because of the taint, then by force because nothing else ends it. */
const deleters = [accounts.own, 'system:serviceaccount:kube-system:pod-garbage-collector'];

/** Does something while the ledger runs, and removes it. */
export async function withLedger(stage: Stage, act: () => Promise<Times>): Promise<Times> {
  const { cluster } = stage;
  const remove = ['delete', '--filename', manifest, '--ignore-not-found'];
  try {
    await cluster.volumes.start();
    for (const name of nodeNames) await cluster.volumes.mountOn(cluster.nodes[name]);
    await cluster.kubectl(...remove, '--timeout=60s');
    await cluster.apply(readFileSync(manifest, 'utf8'));
    const times = await act();
    await cluster.kubectl(...remove, '--timeout=60s');
    return times;
  } finally {
    await cluster.tryKubectl(...remove, '--wait=false');
    for (const name of nodeNames) await cluster.volumes.mountNoMoreOn(cluster.nodes[name]);
    await cluster.volumes.stop();
  }
}

/** The node of the ledger loses power. `prove`: what is then done so that the node gets the taint. */
export async function takeOut(stage: Stage, prove: () => Promise<void>): Promise<Times> {
  const { timeline, cluster } = stage;
  await timeline.when(`the ledger runs on ${ledgerNode}`, 60, () => runsAt(stage).includes(ledgerNode));
  const entry = new Date().toISOString();
  await cluster.nodes[ledgerNode].run('sh', '-c', `echo ${entry} > ${fileOfLedger(stage)}`);
  timeline.mark(`${ledgerNode} loses power`);
  await cluster.nodes[ledgerNode].powerOff();
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(ledgerNode));
  await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', ledgerNode) === 4);
  expectUntouched(stage);
  timeline.mark(`the taint for ${ledgerNode}`);
  const provenMs = Date.now();
  await prove();
  const times = await moves(stage);
  expectDeleters(stage, provenMs);
  const at = runsAt(stage)[0] as NodeName;
  const read = await cluster.nodes[at].run('cat', fileOfLedger(stage));
  if (read.trim() !== entry) throw new Error(`the volume on ${at} has: ${read}`);
  return { unknown, ...times };
}

/** Its pod and its volume stay where they are, however long the node is silent. */
function expectUntouched({ timeline }: Stage): void {
  const [pod] = timeline.podsOf('ledger');
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined)
    throw new Error('the pod that tolerates a dead node was deleted');
  const at = timeline.attachedTo(volume).join();
  if (at !== ledgerNode) throw new Error(`the volume is attached to "${at}", not to ${ledgerNode}`);
}

async function moves(stage: Stage): Promise<Times> {
  const { timeline } = stage;
  const tainted = await timeline.when('out-of-service', 30, () => stage.hasTaint(ledgerNode, outOfServiceTaint));
  const detached = await timeline.when(
    'the volume is detached',
    90,
    () => timeline.attachedTo(volume)[0] !== ledgerNode,
  );
  const attached = await timeline.when(
    'the volume is attached elsewhere',
    90,
    () => timeline.attachedTo(volume).length > 0,
  );
  const isElsewhere = (): boolean => runsAt(stage).some((at) => at !== ledgerNode);
  const elsewhere = await timeline.when('the ledger runs elsewhere', 90, isElsewhere);
  const isEmpty = (): boolean =>
    ['web', 'db', 'ledger'].every((app) => timeline.podsOf(app).every((pod) => nodeOf(pod) !== ledgerNode));
  const emptied = await timeline.when(`no pod is left on ${ledgerNode}`, 90, isEmpty);
  return { tainted, detached, attached, elsewhere, emptied };
}

/** Nodes of the pods of the ledger that serve as far as the API server knows. */
function runsAt({ timeline }: Stage): readonly string[] {
  return timeline.podsOf('ledger').filter(isServing).map(nodeOf);
}

/** A file of the volume, where the kubelet has it mounted. */
function fileOfLedger({ timeline }: Stage): string {
  const uid = timeline.podsOf('ledger').find(isServing)?.metadata.uid;
  return `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~csi/${volume}/mount/entry`;
}

/** The audit log of the API server names who deleted the ledger's pod. */
function expectDeleters({ cluster }: Stage, sinceMs: number): void {
  const deletions = auditedWrites(cluster.controlPlane.auditLog, sinceMs).filter(
    ({ verb, target }) => verb === 'delete' && target === 'pods shop/ledger-0',
  );
  const found = [...new Set(deletions.map(({ user }) => user))];
  if (found.join(' ') !== deleters.join(' '))
    throw new Error(`the pod was deleted by ${found.join(', then ')}, not by ${deleters.join(', then ')}`);
}
