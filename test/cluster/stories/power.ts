import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../stage.ts';
import { isServing, nodeOf } from '../timeline.ts';
import { lateness, type Story, type Times } from './story.ts';

const node = 'n3';
const awaySeconds = 100;

async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const before = await stage.recoveries();
  timeline.mark(`${node} loses power`);
  const startedMs = performance.now();
  await cluster.nodes[node].powerOff();
  const age = await stage.heartbeatAge(node);
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const endpointsGone = await timeline.when('endpoints gone', 60, () => !timeline.endpointsOf('web').includes(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  await sleep(Math.max(0, awaySeconds * 1_000 - (performance.now() - startedMs)));
  timeline.mark(`${node} boots`);
  await cluster.nodes[node].boot();
  const well = await timeline.when('Ready without taints', 120, () => stage.isWell(node));
  const isCleared = (): boolean => timeline.podsOf('web').every((pod) => nodeOf(pod) !== node || isServing(pod));
  const cleared = await timeline.when('old pods gone', 120, isCleared);
  await stage.expectRecoveries(before, { changed: 1 });
  return {
    unknown,
    late: lateness(unknown, age),
    endpointsGone,
    replaced,
    replacedAfterGrace: lateness(replaced, age),
    well,
    cleared,
  };
}

export const power: Story = {
  name: 'power',
  about: `a worker loses power for ${awaySeconds} s and boots: its boot ID says that the machine restarted`,
  isComparable: true,
  run,
  limits: { unknown: 52, late: 2, endpointsGone: 54, replaced: 76, replacedAfterGrace: 26 },
};
