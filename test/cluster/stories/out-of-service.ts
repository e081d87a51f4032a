// The taint out-of-service, added by a person after the power was cut: pods are deleted by force, and a StatefulSet is whole again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from '../stage.ts';
import { isServing, nodeOf, readyOf } from '../timeline.ts';
import type { Story, Times } from './story.ts';

const node = 'n3';
const taint = 'node.kubernetes.io/out-of-service';
const manifest = join(import.meta.dirname, '..', 'ledger.yaml');
/** Who deletes a pod: first because of the taint, then by force because nothing else ends it. */
const deleters = [
  'system:serviceaccount:node-lifecycle-controller:node-lifecycle-controller',
  'system:serviceaccount:kube-system:pod-garbage-collector',
];

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  await cluster.apply(readFileSync(manifest, 'utf8'));
  try {
    return { ...(await takeOut(stage)), ...(await bringBack(stage)) };
  } finally {
    await cluster.tryKubectl('taint', 'node', node, `${taint}-`);
    await cluster.kubectl('delete', '--filename', manifest);
  }
}

async function takeOut(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  await timeline.when(`the ledger runs on ${node}`, 60, () => runsAt(stage).includes(node));
  timeline.mark(`${node} loses power`);
  await cluster.nodes[node].powerOff();
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  const [ledger] = timeline.podsOf('ledger');
  if (ledger === undefined || ledger.metadata.deletionTimestamp !== undefined)
    throw new Error('the pod that tolerates a dead node was deleted');
  timeline.mark(`a person taints ${node}`);
  const taintedMs = Date.now();
  await cluster.kubectl('taint', 'node', node, `${taint}=nodeshutdown:NoExecute`);
  const elsewhere = await timeline.when('the ledger runs elsewhere', 90, () => runsAt(stage).some((at) => at !== node));
  const isEmpty = (): boolean =>
    ['web', 'db', 'ledger'].every((app) => timeline.podsOf(app).every((pod) => nodeOf(pod) !== node));
  const emptied = await timeline.when(`no pod is left on ${node}`, 90, isEmpty);
  expectDeleters(stage, taintedMs);
  return { unknown, elsewhere, emptied };
}

/** Nodes of the pods of the ledger that serve as far as the API server knows. */
function runsAt({ timeline }: Stage): readonly string[] {
  const pods = timeline.podsOf('ledger');
  return pods.filter((pod) => isServing(pod)).map(nodeOf);
}

/** The audit log of the API server names who deleted the ledger's pod. */
function expectDeleters({ cluster }: Stage, sinceMs: number): void {
  const lines = readFileSync(cluster.controlPlane.auditLog, 'utf8').split('\n');
  const deletions = lines
    .filter((line) => line.includes('"verb":"delete"') && line.includes('"name":"ledger-0"'))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp) >= sinceMs);
  const found = [...new Set(deletions.map(({ user }) => user.username))];
  if (found.join(' ') !== deleters.join(' '))
    throw new Error(`the pod was deleted by ${found.join(', then ')}, not by ${deleters.join(', then ')}`);
}

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly requestReceivedTimestamp: string;
}

/** The machine is repaired, and the person removes the taint: nothing else does. */
async function bringBack(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`${node} boots`);
  await cluster.nodes[node].boot();
  const ready = await timeline.when('Ready', 120, () => readyOf(stage.node(node)) === 'True');
  if (!stage.isTainted(node)) throw new Error(`the taint that a person added to ${node} was removed`);
  timeline.mark('the taint is removed');
  await cluster.kubectl('taint', 'node', node, `${taint}-`);
  const well = await timeline.when('Ready without taints', 60, () => stage.isWell(node));
  return { ready, well };
}

export const outOfService: Story = {
  name: 'out-of-service',
  about:
    'a worker loses power, and a person adds the taint out-of-service: pods are deleted by force, and a StatefulSet is whole elsewhere',
  isComparable: false,
  run,
  // The pod garbage collector of kube-controller-manager looks every 20 s; a pod starts.
  limits: { unknown: 52, elsewhere: 30, emptied: 30 },
};
