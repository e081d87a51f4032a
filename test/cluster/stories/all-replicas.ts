import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { documentedLine } from '../documented-blocks.ts';
import type { NodeName } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const awaySeconds = 120;
const runbook = 'runbooks/NodeLifecycleLeaseNotRenewed.md';
const root = join(import.meta.dirname, '..', '..', '..');

/**
 * All replicas on nodes that fail together: nothing acts, as the runbook of NodeLifecycleLeaseNotRenewed says. Its commands bring a
 * replica to a living node, which finds the failed ones; when they are back the taint that a person added goes too.
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
  timeline.mark('a person runs the commands of the runbook');
  const byRunbook = await followRunbook(stage, nodes);
  timeline.mark('they boot');
  for (const node of nodes) await cluster.nodes[node].boot();
  const well = await timeline.when('Ready without taints', 180, () => nodes.every((node) => stage.isWell(node)));
  return { byRunbook, well };
}

/** Seconds until a replica leads. */
async function followRunbook(stage: Stage, nodes: readonly NodeName[]): Promise<number> {
  const commands = ['kubectl taint nodes FAILED-1', 'kubectl delete pods --wait=false'].map((begins) =>
    documentedLine(begins, runbook).replace('FAILED-1 FAILED-2', nodes.join(' ')),
  );
  const startedMs = performance.now();
  await stage.cluster.atDesk(commands.join('\n'), root);
  await stage.cluster.until('a replica leads on a living node', async () => stage.isLed());
  return Math.round((performance.now() - startedMs) / 100) / 10;
}

export const allReplicas: Story = {
  name: 'all-replicas',
  about: 'the nodes of all replicas lose power together; the commands of the runbook bring a replica to a living node',
  isComparable: false,
  run,
  limits: { byRunbook: 60 },
};
