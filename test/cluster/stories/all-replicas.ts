import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeName } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const awaySeconds = 120;

/**
 * All replicas on nodes that fail together: nothing acts, as the runbook of NodeLifecycleLeaseNotRenewed says. When they are back one leads
 * and nothing is found dead by mistake.
 */
async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  await cluster.until('two replicas', async () => (await stage.replicas()).length >= 2);
  const nodes: readonly NodeName[] = [...new Set(await stage.replicas())];
  timeline.mark(`${nodes.join(' and ')}, the nodes of all replicas, lose power`);
  await Promise.all(nodes.map((node) => cluster.nodes[node].powerOff()));
  await sleep(awaySeconds * 1_000);
  if (nodes.some((node) => stage.isUnknown(node)))
    throw new Error('a node was found dead although nothing was left to find it');
  timeline.mark('they boot');
  for (const node of nodes) await cluster.nodes[node].boot();
  const startedMs = performance.now();
  await cluster.until('a replica leads', async () => stage.isLed());
  const led = Math.round((performance.now() - startedMs) / 100) / 10;
  const well = await timeline.when('Ready without taints', 180, () => nodes.every((node) => stage.isWell(node)));
  return { led, well };
}

export const allReplicas: Story = {
  name: 'all-replicas',
  about: 'the nodes of all replicas lose power together, and boot after two minutes',
  isComparable: false,
  run,
  limits: {},
};
