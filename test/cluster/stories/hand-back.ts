import { auditedWrites } from '../audit-log.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const node = 'n3';
const users = ['kube-system:node-controller', 'node-lifecycle-controller:node-lifecycle-controller'];

/** While all nodes are healthy neither writes anything, as docs/install.md says. */
async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const startedMs = Date.now();
  timeline.mark('handed back');
  await stage.use('kube-controller-manager');
  await expectNothingLeft(stage);
  const uninstalled = await timeline.when('uninstalled', 1, () => true);
  await stage.use('node-lifecycle-controller');
  const installed = await timeline.when('installed', 1, () => true);
  const writes = auditedWrites(cluster.controlPlane.auditLog, startedMs);
  const first = writes.find(({ user }) => users.some((each) => user === `system:serviceaccount:${each}`));
  if (first !== undefined) throw new Error(`${first.user} wrote: ${first.verb} ${first.target}`);
  return { uninstalled, installed };
}

/** From this controller to those of kube-controller-manager and back: the dead node stays dead, and its pods gone. */
async function handOver(stage: Stage): Promise<Times> {
  const { timeline } = stage;
  timeline.mark('handed back');
  await stage.use('kube-controller-manager');
  await expectNothingLeft(stage);
  const tainted = await timeline.when('NoExecute by the in-tree controllers', 120, () => stage.isTainted(node));
  await stage.use('node-lifecycle-controller');
  return { tainted };
}

/** Of what an uninstallation shall remove. Pods on a dead node are there until it is back. */
async function expectNothingLeft(stage: Stage): Promise<void> {
  const left = await stage.installation.objects();
  if (left.length > 0) throw new Error(`left after the uninstallation: ${left.join(', ')}`);
  const lease = await stage.leader().catch(() => undefined);
  if (lease !== undefined) throw new Error('the lease is left after the uninstallation');
}

export const handBack: Story = {
  name: 'hand-back',
  about: 'uninstalled and handed back to kube-controller-manager, and installed again: neither writes anything',
  isComparable: false,
  run,
  limits: {},
};

export const handBackOutage: Story = {
  name: 'hand-back-outage',
  about: 'the same while a node is dead: it stays Unknown, and its pods gone',
  isComparable: false,
  run: (stage) => stage.withDeadNode(node, () => handOver(stage)),
  limits: {},
};
