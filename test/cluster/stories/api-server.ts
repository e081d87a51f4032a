import { setTimeout as sleep } from 'node:timers/promises';
import { nodeNames } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const frozenSeconds = 60;

/** Nothing may be found dead because the API server was frozen, for longer than a grace period. */
async function run(stage: Stage): Promise<Times> {
  await freezeApiServer(stage, frozenSeconds);
  return { frozen: frozenSeconds };
}

/** Freezes the API server for this time; rejects if a node is found dead within the next 45 s. A replica leads when it resolves. */
export async function freezeApiServer(stage: Stage, seconds: number): Promise<void> {
  const { timeline, cluster } = stage;
  let found = '';
  const isFound = (): boolean => nodeNames.some((name) => stage.isUnknown(name) || stage.isTainted(name));
  const watching = timeline
    .when('a node found dead', seconds + 45, isFound)
    .then(() => (found = nodeNames.filter((name) => stage.isUnknown(name) || stage.isTainted(name)).join(', ')))
    .catch(() => undefined);
  timeline.mark('the API server is frozen');
  cluster.controlPlane.signal('kube-apiserver', 'SIGSTOP');
  await sleep(seconds * 1_000);
  cluster.controlPlane.signal('kube-apiserver', 'SIGCONT');
  timeline.mark('the API server continues');
  await watching;
  if (found !== '') throw new Error(`${found} found dead, though only the API server was frozen`);
  await cluster.until('a replica leads', async () => stage.isLed());
}

export const apiServer: Story = {
  name: 'api-server',
  about: `the API server is frozen for ${frozenSeconds} s: no node is found dead`,
  isComparable: false,
  run,
  limits: {},
};
