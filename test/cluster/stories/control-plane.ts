import { apiAddress, nodeNames, withoutReplaced } from '../machine/settings.ts';
import { documentedCommand } from '../documented-commands.ts';
import { expectObjectsOf, writeOverlay } from '../overlays.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const label = 'node-role.kubernetes.io/control-plane';
const preset = 'charts/node-lifecycle-controller/presets/control-plane.yaml';
/** Runs no other pods. */
const tainted = 'n1';

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  for (const node of nodeNames) await cluster.kubectl('label', 'node', node, `${label}=`);
  await cluster.kubectl('taint', 'node', tainted, `${label}=:NoSchedule`);
  try {
    const changed = await changeKind(stage);
    const found = await failLeader(stage);
    await stopAndStart(stage);
    const overlay = await overlaying(stage);
    await stage.use('node-lifecycle-controller');
    return { changed, ...found, overlay };
  } finally {
    await cluster.kubectl('taint', 'node', tainted, `${label}-`);
    for (const node of nodeNames) await cluster.kubectl('label', 'node', node, `${label}-`);
  }
}

/** `helm upgrade` from the Deployment to the DaemonSet, which reaches the API server without the Service. */
async function changeKind(stage: Stage): Promise<number> {
  const { cluster } = stage;
  const address = apiAddress(cluster.settings);
  const startedMs = performance.now();
  const way = documentedCommand('another way to the API server', { '10.0.0.10': address });
  await stage.helm('upgrade', '--reuse-values', '--values', preset, way);
  await expectEveryNode(stage);
  const [pod] = await stage.controllerPods();
  const env = (pod?.['spec']?.containers[0].env ?? []) as readonly { readonly name: string; readonly value: string }[];
  if (env.find(({ name }) => name === 'KUBERNETES_SERVICE_HOST')?.value !== address)
    throw new Error('the pods do not have the address of the API server');
  return Math.round((performance.now() - startedMs) / 100) / 10;
}

async function expectEveryNode(stage: Stage): Promise<void> {
  await stage.rolledOut('daemonset');
  const onEvery = async (): Promise<boolean> => new Set(await stage.replicas()).size === nodeNames.length;
  await stage.cluster.until('a replica on every node', onEvery);
  await stage.cluster.until('a replica leads', async () => stage.isLed());
}

async function failLeader(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const node = await stage.leaderNode();
  timeline.mark(`the node of the leader, ${node}, loses power`);
  await cluster.nodes[node].powerOff();
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  timeline.mark(`${node} boots`);
  await cluster.nodes[node].boot();
  const back = await timeline.when('Ready', 120, () => stage.isReady(node));
  await expectEveryNode(stage);
  return { unknown, back };
}

/** The emergency, which `helm upgrade` does not undo, as the document says. */
async function stopAndStart(stage: Stage): Promise<void> {
  await stage.installation.run('stop the DaemonSet');
  await stage.cluster.until('no replica', async () => (await stage.controllerPods()).length === 0);
  await stage.helm('upgrade', '--reuse-values');
  await stage.rolledOut('daemonset');
  if ((await stage.controllerPods()).length > 0) throw new Error('helm upgrade started what was stopped');
  await stage.installation.run('start the DaemonSet');
  await expectEveryNode(stage);
}

/** The overlay after `manifests/install.yaml`, whose Deployment is deleted as the document says. */
async function overlaying(stage: Stage): Promise<number> {
  const { installation } = stage;
  await stage.use('kube-controller-manager');
  await installation.run('apply install.yaml');
  await stage.rolledOut();
  await installation.restartControllerManager(withoutReplaced);
  const folder = writeOverlay(stage, 'overlays/control-plane');
  const startedMs = performance.now();
  await installation.run('apply an overlay', { FOLDER: folder });
  await installation.run('delete the Deployment');
  await expectEveryNode(stage);
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  await expectObjectsOf(stage, folder);
  await installation.uninstall('delete install.yaml');
  return seconds;
}

export const controlPlane: Story = {
  name: 'control-plane',
  about:
    'a DaemonSet on control plane nodes: by helm upgrade and by overlay; stopped in an emergency and started again',
  isComparable: false,
  run,
  limits: { unknown: 52 },
};
