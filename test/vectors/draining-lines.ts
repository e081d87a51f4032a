import type { ZoneTaintQueues } from '../../src/controller/tainting/zone-taint-queues.ts';

const turnsMax = 10_000;

export interface LineServer {
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Gives a turn to whoever finds a token now. */
  readonly serve: () => Promise<void>;
}

/** Serves everybody who is in line, one after the other, as long as anybody's turn comes. */
export async function drainLines(lines: ZoneTaintQueues, { nowMs, wait, serve }: LineServer): Promise<void> {
  for (let left = turnsMax; left > 0; left -= 1) {
    const before = sizeOf(lines);
    if (before === 0) return;
    await serve();
    if (sizeOf(lines) < before) continue;
    const nextMs = nextTokenInMs(lines, nowMs());
    if (!Number.isFinite(nextMs)) return;
    await wait(nextMs);
  }
  throw new Error('the lines do not empty');
}

function sizeOf(lines: ZoneTaintQueues): number {
  return lines.zones().reduce((sum, zone) => sum + (lines.get(zone)?.size ?? 0), 0);
}

/** A token that was there and was not taken promises nobody anything: it is the others that are waited for. */
function nextTokenInMs(lines: ZoneTaintQueues, nowMs: number): number {
  const taken = lines.zones().flatMap((zone) => lines.get(zone) ?? []);
  const waits = taken.filter(({ size }) => size > 0).map((line) => line.nextTokenAtMs(nowMs) - nowMs);
  return Math.min(...waits.map((inMs) => (inMs > 0 ? inMs : Infinity)));
}
