import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeKubeconfig } from '../machine/certificates.ts';
import { nodeFolder, otherControllers, withoutReplaced } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

/** Those on which the static pod runs, as if they were control plane nodes. */
const hosts = ['n1', 'n2'] as const;
type Host = (typeof hosts)[number];

async function run(stage: Stage): Promise<Times> {
  await stage.use('kube-controller-manager');
  try {
    const led = await install(stage);
    await stage.installation.restartControllerManager(withoutReplaced);
    const times = await failLeader(stage);
    await stage.installation.restartControllerManager(otherControllers);
    await uninstall(stage);
    return { led, ...times };
  } finally {
    for (const host of hosts) rmSync(onDisk(stage, host, 'manifests/node-lifecycle-controller.yaml'), { force: true });
    await stage.installation.run('unbind the user of static pods');
  }
}

async function install(stage: Stage): Promise<number> {
  const { installation, cluster } = stage;
  const startedMs = performance.now();
  await installation.run('bind the user of static pods');
  for (const host of hosts) {
    const kubeconfig = await makeKubeconfig(cluster.settings, 'node-lifecycle-controller');
    writeFileSync(onDisk(stage, host, 'node-lifecycle-controller.conf'), kubeconfig);
    chmodSync(onDisk(stage, host, 'node-lifecycle-controller.conf'), 0o644);
    await installation.runOn(host, 'protect the kubeconfig');
    await installation.runOn(host, 'add the static pod');
  }
  await cluster.until('two replicas', async () => (await stage.replicas()).length === hosts.length);
  await cluster.until('a replica leads', async () => stage.isLed());
  const list = await installation.run('list static pods');
  for (const host of hosts)
    if (!list.includes(`node-lifecycle-controller-${host} `)) throw new Error(`no static pod of ${host} in: ${list}`);
  return Math.round((performance.now() - startedMs) / 100) / 10;
}

/** The other one finds the node dead, and its pods are replaced; the static pod stays bound to its node, and starts with it. */
async function failLeader(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const node = await stage.leaderNode();
  timeline.mark(`the node of the leader, ${node}, loses power`);
  await cluster.nodes[node].powerOff();
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  const pods = await stage.controllerPods();
  if (pods.length !== hosts.length || pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined))
    throw new Error('the static pod of a dead node was deleted, which only its kubelet can do');
  timeline.mark(`${node} boots`);
  await cluster.nodes[node].boot();
  const well = await timeline.when('Ready without taints', 120, () => stage.isWell(node));
  await cluster.until('two replicas', async () => (await stage.replicas()).length === hosts.length);
  return { unknown, replaced, well };
}

async function uninstall(stage: Stage): Promise<void> {
  const { installation, cluster } = stage;
  for (const host of hosts) await installation.runOn(host, 'remove the static pod');
  await installation.run('delete the lease');
  await cluster.until('no replica', async () => (await stage.controllerPods()).length === 0);
}

/** A file below /etc/kubernetes of a node, with or without power. */
function onDisk({ cluster }: Stage, host: Host, name: string): string {
  return join(nodeFolder(cluster.settings, host), 'root/etc/kubernetes', name);
}

export const staticPod: Story = {
  name: 'static-pod',
  about: 'static pods on two nodes instead of an installation: the node of the leader loses power, and boots',
  isComparable: false,
  run,
  limits: { unknown: 52, replaced: 76 },
};
