import type { Daemon } from '../machine/cluster-node.ts';
import type { Stage } from '../stage.ts';
import { podNames } from '../timeline.ts';
import type { Story, Times } from './story.ts';

const node = 'n2';
const watchedSeconds = 60;

/** Each is started again a second later: no pod moves, and the node is never found dead. */
async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const before = await stage.recoveries();
  const pods = podsOf(stage);
  const isHarmed = (): boolean => stage.isUnknown(node) || stage.isTainted(node) || podsOf(stage) !== pods;
  for (const daemon of ['kubelet', 'containerd', 'kube-proxy'] as const satisfies readonly Daemon[]) {
    timeline.mark(`${daemon} of ${node} is killed`);
    await cluster.nodes[node].signal(daemon, 'SIGKILL');
    const harmed = await timeline.when('harm', watchedSeconds / 3, isHarmed).catch(() => undefined);
    if (harmed !== undefined)
      throw new Error(`${harmed} s after SIGKILL of ${daemon} ${node} was found dead, or pods moved`);
  }
  await stage.expectRecoveries(before, {});
  return {};
}

/** Also those that are not ready: a kubelet that starts again may say so of a pod until it has probed it. */
function podsOf({ timeline }: Stage): string {
  const pods = [...timeline.podsOf('web'), ...timeline.podsOf('db')];
  return podNames(pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined));
}

export const daemons: Story = {
  name: 'daemons',
  about:
    'kubelet, containerd and kube-proxy of a worker are killed one after the other, and start again: nothing moves',
  isComparable: true,
  run,
  limits: {},
};
