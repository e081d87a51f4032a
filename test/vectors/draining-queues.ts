import type { ZoneTaintQueues } from '../../src/controller/tainting/zone-taint-queues.ts';

const slotsMax = 10_000;

interface QueueServer {
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Processes each entry that gets a token now. */
  readonly serve: () => Promise<void>;
}

/** Processes all entries, one after another, as long as one gets a token. */
export async function drainQueues(queues: ZoneTaintQueues, { nowMs, wait, serve }: QueueServer): Promise<void> {
  for (let left = slotsMax; left > 0; left -= 1) {
    const before = sizeOf(queues);
    if (before === 0) return;
    await serve();
    if (sizeOf(queues) < before) continue;
    const nextMs = nextTokenInMs(queues, nowMs());
    if (!Number.isFinite(nextMs)) return;
    await wait(nextMs);
  }
  throw new Error('the queues do not drain');
}

function sizeOf(queues: ZoneTaintQueues): number {
  return queues.zones().reduce((sum, zone) => sum + (queues.get(zone)?.size ?? 0), 0);
}

/** A token that was available and not used is not waited for; the tokens of the others are. */
function nextTokenInMs(queues: ZoneTaintQueues, nowMs: number): number {
  const taken = queues.zones().flatMap((zone) => queues.get(zone) ?? []);
  const waits = taken.filter(({ size }) => size > 0).map((queue) => queue.nextTokenAtMs(nowMs) - nowMs);
  return Math.min(...waits.map((inMs) => (inMs > 0 ? inMs : Infinity)));
}
