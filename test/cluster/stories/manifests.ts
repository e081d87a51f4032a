import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../machine/run-program.ts';
import { withoutReplaced } from '../machine/settings.ts';
import { expectObjectsOf, writeOverlay } from '../overlays.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const node = 'n3';

/** All paths of docs/install.md that do without an installation by helm, one after the other. */
async function run(stage: Stage): Promise<Times> {
  await stage.use('kube-controller-manager');
  const rendered = await rendering(stage);
  const applied = await applying(stage);
  const overlaid = await overlaying(stage);
  await stage.use('node-lifecycle-controller');
  return { rendered, ...applied, ...overlaid };
}

/** `helm template` and `kubectl apply`. */
async function rendering(stage: Stage): Promise<number> {
  const { installation } = stage;
  await installation.run('delete the namespace');
  await installation.run('create the namespace');
  const seconds = await secondsUntilLed(stage, () => installation.run('render with helm'));
  await expectStatus(stage);
  await installation.uninstall('delete install.yaml');
  return seconds;
}

/** The checks of the document: the lease, the plugin, and the program in a pod name the leader. */
async function expectStatus(stage: Stage): Promise<void> {
  const { installation } = stage;
  await installPlugin(stage);
  const leader = await stage.leader();
  const pods = await stage.controllerPods();
  const pod = pods.find(({ metadata }) => leader.startsWith(metadata.name));
  const texts = {
    lease: await installation.run('see the lease'),
    plugin: await installation.run('status by the plugin'),
    pod: await installation.run('status in a pod', { POD: pod?.metadata.name ?? '' }),
  };
  for (const [source, text] of Object.entries(texts))
    if (!text.includes(leader)) throw new Error(`the leader is ${leader}, and the ${source} says: ${text}`);
}

/** By hand, as docs/kubectl.md says. */
async function installPlugin({ cluster }: Stage): Promise<void> {
  await runProgram(process.execPath, ['tools/bundle/build.ts'], { cwd: root });
  const plugin = join(cluster.settings.folder, 'bin', 'kubectl-node_lifecycle');
  if (!existsSync(plugin)) symlinkSync(join(root, 'dist', 'nlc.js'), plugin);
}

/** `manifests/install.yaml`, with its permissions: a dead node is found, and its pods are replaced. Then the emergency stop. */
async function applying(stage: Stage): Promise<Times> {
  const { installation, timeline, cluster } = stage;
  const installed = await secondsUntilLed(stage, () => installation.run('apply install.yaml'));
  await installation.restartControllerManager(withoutReplaced);
  timeline.mark(`the cable of ${node} is out`);
  await cluster.nodes[node].cable('out');
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  await installation.run('stop the Deployment');
  await cluster.until('no replica', async () => (await stage.replicas()).length === 0);
  timeline.mark(`the cable of ${node} is in`);
  await cluster.nodes[node].cable('in');
  await timeline.when('Ready', 60, () => !stage.isUnknown(node));
  await installation.run('start the Deployment');
  const well = await timeline.when('Ready without taints', 120, () => stage.isWell(node));
  await stage.rolledOut();
  return { installed, unknown, replaced, well };
}

/** An overlay of one's own, then of the mode shadow: after the documented commands nothing is left that shadow does not have. */
async function overlaying(stage: Stage): Promise<Times> {
  const { installation } = stage;
  const overlay = await secondsUntilLed(stage, () =>
    installation.run('apply an overlay', { FOLDER: writeOverlay(stage, 'base') }),
  );
  const folder = writeOverlay(stage, 'overlays/shadow');
  await installation.run('apply an overlay', { FOLDER: folder });
  await installation.run('delete what shadow does not have');
  await installation.run('delete the budget');
  await stage.rolledOut();
  await stage.cluster.until('one replica', async () => (await stage.controllerPods()).length === 1);
  await expectObjectsOf(stage, folder);
  await installation.uninstall('delete install.yaml');
  return { overlay };
}

async function secondsUntilLed(stage: Stage, install: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await install();
  await stage.rolledOut();
  await stage.cluster.until('a replica leads', async () => stage.isLed());
  return Math.round((performance.now() - startedMs) / 100) / 10;
}

export const manifests: Story = {
  name: 'manifests',
  about: 'installed without helm: rendered, install.yaml, overlays; stopped in an emergency and started again',
  isComparable: false,
  run,
  limits: { unknown: 52, replaced: 76 },
};
