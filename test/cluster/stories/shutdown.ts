// The conditions of a shutdown: they hold the pods of a machine that lives, and nothing of one that is off.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import { nodeOf } from '../timeline.ts';
import type { Story, Times } from './story.ts';

const node = 'n3';
const conditions = ['GracefulNodeShutdownInProgress', 'DrainInProgress'] as const;
const watchedSeconds = 60;

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  return stage.withUpgrade(upgradeWithPolicy(stage), async () => {
    try {
      await cluster.kubectl('label', 'node', node, 'pool=workers', '--overwrite');
      await declare(stage, 'True');
      // A live setting reaches the replicas through their kubelets, within two minutes.
      await stage.restart();
      await cluster.until('a replica leads', async () => stage.isLed());
      await keepsPodsOfLiving(stage);
      const times = await emptiesWhatIsOff(stage);
      await cluster.nodes[node].boot();
      return { ...times, well: await stage.timeline.when('Ready without taints', 120, () => stage.isWell(node)) };
    } finally {
      await cluster.kubectl('label', 'node', node, 'pool-');
      await declare(stage, 'False');
    }
  });
}

/** The policy of the document, as a file of values. */
function upgradeWithPolicy({ cluster }: Stage): string {
  const rule = documentedBlock('Conditions of the life of a node', '    maintenance:', 'policies.md', 'yaml');
  const policy = `config:
  policies:
    - name: workers
      nodeSelector: { matchLabels: { pool: workers } }
${`    ${rule}`.replaceAll(/^/gmu, '  ')}
`;
  const file = join(cluster.settings.folder, 'shutdown.yaml');
  writeFileSync(file, policy);
  const release = 'node-lifecycle-controller charts/node-lifecycle-controller --namespace node-lifecycle-controller';
  return `helm upgrade ${release} --reuse-values --values ${file}`;
}

/** As a kubelet and `kubectl drain` will: no program of Kubernetes 1.37 writes them yet. */
async function declare({ cluster }: Stage, status: 'True' | 'False'): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+Z$/u, 'Z');
  const list = conditions.map((type) => ({ type, status, reason: 'Story', lastTransitionTime: now }));
  const patch = JSON.stringify({ status: { conditions: list } });
  await cluster.kubectl('patch', 'node', node, '--subresource=status', '--type=strategic', `--patch=${patch}`);
}

/** Its kubelet says that it is not ready, and renews its lease: the pods are left to it. */
async function keepsPodsOfLiving(stage: Stage): Promise<void> {
  const { timeline, cluster } = stage;
  const machine = cluster.nodes[node];
  const before = timeline.podsOf('web').filter((pod) => nodeOf(pod) === node).length;
  timeline.mark(`containerd of ${node} stops`);
  await machine.hold('containerd');
  await machine.signal('containerd', 'SIGKILL');
  await timeline.when('not ready', 120, () => !stage.isReady(node));
  const isHarmed = (): boolean =>
    stage.isTainted(node) || timeline.podsOf('web').filter((pod) => nodeOf(pod) === node).length < before;
  const harmed = await timeline.when('harm', watchedSeconds, isHarmed).catch(() => undefined);
  if (harmed !== undefined) throw new Error(`${harmed} s after ${node} was not ready, its pods were evicted`);
  timeline.mark(`containerd of ${node} starts`);
  await machine.release('containerd');
  await timeline.when('ready', 120, () => stage.isWell(node) && stage.servingBeside('web', 'n1') > 0);
}

/** Tainted and emptied at the normal time. */
async function emptiesWhatIsOff(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`${node} loses power`);
  await cluster.nodes[node].powerOff();
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const tainted = await timeline.when('NoExecute', 30, () => stage.isTainted(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  timeline.mark(`${node} boots`);
  return { unknown, tainted, replaced };
}

export const shutdown: Story = {
  name: 'shutdown',
  about:
    'the conditions of a shutdown are True on a worker: its pods stay while its kubelet lives, and go as usual when it is off',
  isComparable: false,
  run,
  limits: { unknown: 52, tainted: 54, replaced: 76 },
};
