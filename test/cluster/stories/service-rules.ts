// The rules by which a node reaches the Service `kubernetes` are gone: its kubelet, which does not use them, renews its lease all the same.
import { type NodeName, nodeNames } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const quietSeconds = 60;

async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  await cluster.until('replicas on two nodes', async () => new Set(await stage.replicas()).size === 2);
  const node = await stage.leaderNode();
  const leader = await stage.leader();
  const isFound = (): boolean => nodeNames.some((name) => stage.isUnknown(name) || stage.isTainted(name));
  timeline.mark(`the rules of Services on ${node}, the node of the leader, are gone`);
  const startedMs = performance.now();
  try {
    await removeRules(stage, node);
    await cluster.until(
      'another replica leads',
      async () => (await stage.leader()) !== leader && (await stage.isLed()),
    );
    const led = Math.round((performance.now() - startedMs) / 100) / 10;
    if ((await stage.leaderNode()) === node)
      throw new Error(`a replica on ${node} leads, without a way to the API server`);
    const found = await timeline.when('a node found dead', quietSeconds, isFound).catch(() => undefined);
    if (found !== undefined)
      throw new Error(`a node was found dead after ${found} s, though all kubelets renew their leases`);
    return { led, ...(await bringBack(stage, node)) };
  } finally {
    await cluster.nodes[node].release('kube-proxy');
  }
}

/** kube-proxy ends, its rules are flushed, and connections that use them end: those would last without rules. */
async function removeRules({ cluster }: Stage, name: NodeName): Promise<void> {
  const node = cluster.nodes[name];
  await node.hold('kube-proxy');
  await node.signal('kube-proxy', 'SIGKILL');
  await node.run('iptables', '--wait', '--table', 'nat', '--flush', 'KUBE-SERVICES');
  await node.try('conntrack', '--delete', '--orig-dst', `${cluster.settings.network.services}.0.1`);
}

/** kube-proxy starts, and the replica of the node reaches the API server again. */
async function bringBack(stage: Stage, node: NodeName): Promise<Times> {
  const { cluster } = stage;
  const startedMs = performance.now();
  await cluster.nodes[node].release('kube-proxy');
  await cluster.until('both replicas are ready', async () => (await stage.replicas()).length === 2);
  return { ready: Math.round((performance.now() - startedMs) / 100) / 10 };
}

export const serviceRules: Story = {
  name: 'service-rules',
  about:
    'the rules of kube-proxy on the node of the leader are gone for a minute: another replica leads, and no node is found dead',
  isComparable: false,
  run,
  // A lease of 15 s expires, and candidates try every 2 s. An attempt to connect lasts 10 s, and the next one follows soon.
  limits: { led: 25, ready: 20 },
};
