// The mode `detector-only`: this controller detects and taints, and kube-controller-manager's taint-eviction-controller evicts.
import { accounts, auditedWrites } from '../audit-log.ts';
import { documentedCommand } from '../documented-commands.ts';
import { otherControllers, withoutReplaced } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import { cable } from './cable.ts';
import type { Story, Times } from './story.ts';

const withoutDetector = `${otherControllers},-node-lifecycle-controller`;
const upgrade = documentedCommand('change the mode', { 'evictor-only': 'detector-only' });

/** As docs/install.md says: who takes a part over is started before the other one leaves it. */
async function run(stage: Stage): Promise<Times> {
  const { installation } = stage;
  await installation.restartControllerManager(withoutDetector);
  const times = await stage.withUpgrade(upgrade, async () => pullCable(stage));
  await installation.restartControllerManager(withoutReplaced);
  return times;
}

async function pullCable(stage: Stage): Promise<Times> {
  const startedMs = Date.now();
  const times = await cable.run(stage);
  expectWriters(stage, startedMs);
  return times;
}

/** Each does its part, and only that: pods of the workload are deleted by one, nodes are changed by the other. */
function expectWriters({ cluster }: Stage, sinceMs: number): void {
  const writes = auditedWrites(cluster.controlPlane.auditLog, sinceMs);
  const evictsBy = (user: string): boolean =>
    writes.some((write) => write.user === user && write.verb === 'delete' && write.target.startsWith('pods shop/'));
  const changesNodesBy = (user: string): boolean =>
    writes.some((write) => write.user === user && /^nodes(?:\/status)? /u.test(write.target));
  if (!evictsBy(accounts.inTree) || evictsBy(accounts.own))
    throw new Error('pods were not deleted by kube-controller-manager alone');
  if (!changesNodesBy(accounts.own) || changesNodesBy(accounts.inTree))
    throw new Error('nodes were not tainted by this controller alone');
}

export const detectorOnly: Story = {
  name: 'detector-only',
  about:
    "this controller detects, and kube-controller-manager's taint-eviction-controller evicts: a worker's cable is pulled, and plugged in again",
  isComparable: false,
  run,
  limits: cable.limits,
};
