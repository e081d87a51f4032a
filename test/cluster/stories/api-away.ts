import { setTimeout as sleep } from 'node:timers/promises';
import { nodeNames } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const awaySeconds = 20;

/** No node may be found dead, and a replica leads again. */
async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const isFound = (): boolean => nodeNames.some((name) => stage.isUnknown(name) || stage.isTainted(name));
  const times: Record<string, number> = {};
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    timeline.mark(`the API server ends by ${signal}`);
    await cluster.controlPlane.stop('kube-apiserver', signal);
    await sleep(awaySeconds * 1_000);
    cluster.controlPlane.start('kube-apiserver');
    const startedMs = performance.now();
    await cluster.until(
      'the API server is ready',
      async () => (await cluster.tryKubectl('get', '--raw', '/readyz')).code === 0,
    );
    await cluster.until('a replica leads', async () => stage.isLed());
    times[`led after ${signal}`] = Math.round((performance.now() - startedMs) / 100) / 10;
    const found = await timeline.when('a node found dead', 60, isFound).catch(() => undefined);
    if (found !== undefined) throw new Error(`a node was found dead, though only the API server was away (${signal})`);
  }
  return times;
}

export const apiAway: Story = {
  name: 'api-away',
  about: `the API server is away for ${awaySeconds} s, ended by SIGTERM and by SIGKILL: no node is found dead`,
  isComparable: false,
  run,
  limits: {},
};
