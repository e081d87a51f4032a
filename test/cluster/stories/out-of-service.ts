// The taint out-of-service, added by a person after the power was cut: pods are deleted by force, volumes move, a StatefulSet is whole again.
import type { Stage } from '../stage.ts';
import { readyOf } from '../timeline.ts';
import { ledgerNode as node, outOfServiceTaint as taint, takeOut, withLedger } from './ledger.ts';
import type { Story, Times } from './story.ts';

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  const addTaint = async (): Promise<void> =>
    void (await cluster.kubectl('taint', 'node', node, `${taint}=nodeshutdown:NoExecute`));
  try {
    return await withLedger(stage, async () => ({ ...(await takeOut(stage, addTaint)), ...(await bringBack(stage)) }));
  } finally {
    await cluster.tryKubectl('taint', 'node', node, `${taint}-`);
  }
}

/** The machine is repaired, and the person removes the taint: nothing else does. */
async function bringBack(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`${node} boots`);
  await cluster.nodes[node].boot();
  await cluster.volumes.mountOn(cluster.nodes[node]);
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
    'a worker loses power, and a person adds the taint out-of-service: pods are deleted by force, and a StatefulSet with a volume is whole elsewhere',
  isComparable: false,
  run,
  // The pod garbage collector of kube-controller-manager looks every 20 s; a volume is attached, and a pod starts.
  limits: { unknown: 52, elsewhere: 30, emptied: 30 },
};
