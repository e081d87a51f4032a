import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const node = 'n2';
const awaySeconds = 30;

/** Whether anything was said about the node that a user would notice. */
async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const before = await stage.recoveries();
  let wasTainted = false;
  const watching = timeline
    .when('NoExecute', awaySeconds + 60, () => stage.isTainted(node))
    .then(() => (wasTainted = true))
    .catch(() => undefined);
  const booted = stage.node(node)?.['status']?.nodeInfo?.bootID as string;
  timeline.mark(`${node} reboots`);
  await cluster.nodes[node].powerOff();
  await sleep(awaySeconds * 1_000);
  await cluster.nodes[node].boot();
  const isBack = (): boolean => stage.node(node)?.['status']?.nodeInfo?.bootID !== booted && stage.isWell(node);
  const back = await timeline.when('Ready with another boot ID', 120, isBack);
  await watching;
  if (wasTainted) throw new Error(`${node} got a NoExecute taint although it was back within its grace period`);
  await stage.expectRecoveries(before, {});
  return { back };
}

export const reboot: Story = {
  name: 'reboot',
  about: `a worker reboots and is back after ${awaySeconds} s: it is never tainted NoExecute, and its pods stay`,
  isComparable: true,
  run,
  limits: { back: awaySeconds + 60 },
};
