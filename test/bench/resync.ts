// Cost of the resync: all nodes of a large cluster are evaluated again in batches, once a minute while a controller leads.
// Prints the time of a batch and of a node; nothing is checked.
import { resyncBatchMax } from '../../src/controller/node-work/resync-schedule.ts';
import { ControllerWorld } from '../support/controller-world.ts';

const sizes = [1_000, 10_000, 100_000] as const;

async function measure(size: number): Promise<void> {
  const world = new ControllerWorld();
  const names = Array.from({ length: size }, (_, place) => `n${place}`);
  for (const [place, name] of names.entries()) world.addNode(name, { zone: `z${place % 10}` });
  for (const name of names) world.renewOnce(name);
  await world.running(0);
  const { monitor } = world.lifecycle.stages;
  for (let round = 0; round < 2; round += 1) resyncAll(monitor, names);
  report(size, resyncAll(monitor, names));
  await world.stop();
}

type Monitor = ControllerWorld['lifecycle']['stages']['monitor'];

/** Milliseconds of each batch. */
function resyncAll(monitor: Monitor, names: readonly string[]): readonly number[] {
  const tookMs: number[] = [];
  for (let at = 0; at < names.length; at += resyncBatchMax) {
    const startedAtMs = performance.now();
    for (const name of names.slice(at, at + resyncBatchMax)) monitor.resync(name);
    monitor.run();
    tookMs.push(performance.now() - startedAtMs);
  }
  return tookMs;
}

function report(nodes: number, tookMs: readonly number[]): void {
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
  const totalMs = tookMs.reduce((sum, ms) => sum + ms, 0);
  console.log(
    JSON.stringify({
      nodes,
      microsecondsPerNode: Number(((totalMs * 1_000) / nodes).toFixed(2)),
      batchMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    }),
  );
}

for (const size of sizes) await measure(size);
