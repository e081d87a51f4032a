// Cost of pods whose deletion is due and held: the share of a core that a controller needs with them, less what it needs in the
// same cluster without them. Virtual time, so that nothing else is measured. Figures are printed and not checked.
import type { ControllerOptions } from '../../src/controller/model/options.ts';
import { aPolicy } from '../support/builders.ts';
import { ControllerWorld } from '../support/controller-world.ts';

const nodeCount = 500;
const podCounts = [0, 50_000] as const;
const seconds = 60;
const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };

const limits = { maxUnhealthy: { percent: undefined, count: 1 }, cooldownMs: 60_000, resetAtMs: undefined };
/** What holds the pods of all nodes. */
const holds = { paused: { paused: true }, breaker: { policies: [aPolicy({ selector: [], limits })] } } as const;

/** Share of a core in percent. */
async function measure(pods: number, options: Partial<ControllerOptions>): Promise<number> {
  const world = new ControllerWorld(options);
  const names = Array.from({ length: nodeCount }, (_, place) => `n${place}`);
  for (const [place, name] of names.entries()) {
    world.addNode(name, { zone: `z${place % 3}` });
    world.setTaints(name, [taint]);
    world.post(name, 'Unknown');
  }
  for (let pod = 0; pod < pods; pod += 1) world.addPod(`p${pod}`, names[pod % nodeCount] ?? '');
  await world.running(10);
  const before = process.cpuUsage();
  await world.advance(seconds);
  const { user, system } = process.cpuUsage(before);
  await world.stop();
  return (user + system) / 1e4 / seconds;
}

for (const [hold, options] of Object.entries(holds)) {
  const without = await measure(podCounts[0], options);
  const percentOfACore = Number(((await measure(podCounts[1], options)) - without).toFixed(2));
  console.log(JSON.stringify({ hold, heldPods: podCounts[1], percentOfACore }));
}
