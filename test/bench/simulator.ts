// Virtual seconds per second of CPU for a quiet cluster of 1,000 nodes: the difference of two runs that differ only in their
// duration, so that registration does not count. `-- --scale=0.1` simulates a tenth of the cluster.
import { parseControllerConfig } from '../../src/cli/controller/config.ts';
import { runScenario } from '../../src/simulator/scenario/run-scenario.ts';
import type { Scenario } from '../../src/simulator/scenario/scenario.ts';
import { simulationRuntime } from '../../src/cli/simulate/simulation-runtime.ts';

const scale = Number(process.argv.find((argument) => argument.startsWith('--scale='))?.split('=')[1] ?? 1);
const nodeCount = Math.round(1_000 * scale);
const shortMs = 60_000;
const longMs = 240_000;
const names = Array.from({ length: nodeCount }, (_, index) => `n-${index + 1}`);

const parsed = parseControllerConfig(['--kube-api-qps=500', '--kube-api-burst=1000'], () => '');
if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
const config = { ...parsed.config, leaderElect: true, shadow: false };
const settings = { config, limits: { qps: config.kubeApiQps, burst: config.kubeApiBurst }, shown: [] };
function quiet(podsPerNode: number, durationMs: number): Scenario {
  return {
    name: 'quiet',
    description: '',
    durationMs,
    seed: 1,
    nodes: [{ names, zone: 'a', labels: {} }],
    pods: names.map((node) => ({ node, count: podsPerNode, tolerates: 300, graceSeconds: 30 })),
    servers: 1,
    replicas: 1,
    leaseDurationSeconds: 40,
    steps: [],
  };
}

/** CPU seconds. */
async function measure(scenario: Scenario): Promise<number> {
  const before = process.cpuUsage();
  await runScenario(scenario, settings, simulationRuntime);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

for (const podsPerNode of [0, 3]) {
  const short = await measure(quiet(podsPerNode, shortMs));
  const long = await measure(quiet(podsPerNode, longMs));
  const virtualSeconds = (longMs - shortMs) / 1_000;
  const speed = virtualSeconds / (long - short);
  console.log(
    `${nodeCount} quiet nodes with ${podsPerNode} pods each: ${speed.toFixed(0)} virtual seconds per CPU second ` +
      `(${(((long - short) / virtualSeconds / nodeCount) * 1e6).toFixed(0)} µs per node and second), ` +
      `${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`,
  );
}
