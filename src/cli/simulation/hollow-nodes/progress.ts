import type { HollowFleet } from '../../../hollow-cluster/kubelet/fleet/fleet.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { CommandIo } from '../../io/command-io.ts';

const periodMs = 1_000;
/** Period without a terminal, where lines are not overwritten. */
const plainPeriodMs = 5_000;

/** Prints how many nodes are registered and ready, until all are ready or the signal aborts. */
export async function showProgress(fleet: HollowFleet, clock: Clock, io: CommandIo): Promise<void> {
  const startMs = clock.monotonicMs();
  const inPlace = io.isTerminal === true;
  while (!io.signal.aborted) {
    const { nodes, registered, ready } = fleet.status();
    const isDone = ready === nodes;
    const seconds = ((clock.monotonicMs() - startMs) / 1_000).toFixed(0);
    const text = `${registered} of ${nodes} nodes are registered, ${ready} ready, after ${seconds} s`;
    if (inPlace) io.stdout(`\r${text}\u001B[K${isDone ? '\n' : ''}`);
    else io.stdout(`${text}\n`);
    if (isDone) return;
    await clock.sleep(inPlace ? periodMs : plainPeriodMs, io.signal);
  }
  if (inPlace) io.stdout('\n');
}
