// The network policy of the chart, enforced: the controller reaches the API server, and only the peers of its metrics reach these.
import { buildKubeRouter, enforce, enforceNoMore } from '../machine/network-policy-program.ts';
import { type NodeName, nodeNames } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import { isServing, nodeOf } from '../timeline.ts';
import type { Story, Times } from './story.ts';

const quietSeconds = 30;
/** The namespace of the workload as a peer of the metrics. */
const peer = 'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.kubernetes\\.io/metadata\\.name=shop';

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  const program = await buildKubeRouter(cluster.settings);
  if (!(await reachesMetrics(stage))) throw new Error('without a policy in force, a pod does not reach the metrics');
  try {
    for (const name of nodeNames) await enforce(cluster.nodes[name], program, cluster.settings);
    return await whileEnforced(stage);
  } finally {
    for (const name of nodeNames) await enforceNoMore(cluster.nodes[name]);
  }
}

async function whileEnforced(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark('network policies are enforced');
  const startedMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startedMs) / 100) / 10;
  await cluster.until('a pod is denied', async () => !(await reachesMetrics(stage)));
  const denied = seconds();
  await cluster.kubectl(
    'rollout',
    'restart',
    'deployment/node-lifecycle-controller',
    '--namespace',
    'node-lifecycle-controller',
  );
  await stage.rolledOut();
  await cluster.until('a replica leads', async () => stage.isLed());
  const led = seconds();
  const isFound = (): boolean => nodeNames.some((name) => stage.isUnknown(name) || stage.isTainted(name));
  const found = await timeline.when('a node found dead', quietSeconds, isFound).catch(() => undefined);
  if (found !== undefined) throw new Error(`a node was found dead after ${found} s`);
  if (await reachesMetrics(stage)) throw new Error('a pod that is no peer reaches the metrics');
  return stage.withValues([`'${peer}'`], async () => {
    await cluster.until('a peer reaches the metrics', async () => reachesMetrics(stage), 30_000);
    return { denied, led };
  });
}

/** Whether a pod of the workload reads the metrics of the leader, from the pod's own network namespace. */
async function reachesMetrics(stage: Stage): Promise<boolean> {
  const web = stage.timeline.podsOf('web').find(isServing);
  if (web === undefined) throw new Error('no pod of the workload serves');
  const node = stage.cluster.nodes[nodeOf(web) as NodeName];
  const find = `for each in $(ls /run/netns); do ip -netns $each -o address | grep -q " $0/" && echo $each; done`;
  const namespace = (await node.run('sh', '-c', `${find} || true`, String(web['status']?.podIP))).trim();
  const url = `http://${await stage.leaderAddress()}:8080/metrics`;
  const script = 'process.exit((await fetch(process.argv[1], { signal: AbortSignal.timeout(3_000) })).ok ? 0 : 1)';
  const read = [process.execPath, '--input-type=module', '--eval', script, url];
  return (await node.try('ip', 'netns', 'exec', namespace, ...read)).code === 0;
}

export const networkPolicy: Story = {
  name: 'network-policy',
  about:
    "the chart's network policy is enforced: a pod is denied the metrics unless it is a peer, and the controller works",
  isComparable: false,
  run,
  limits: {},
};
