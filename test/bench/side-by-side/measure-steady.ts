// CPU and memory while nothing happens, with heartbeats and without.
import { setTimeout as sleep } from 'node:timers/promises';
import { machineBusySeconds, processFigures } from '../process-figures.ts';
import { steadyLimits } from './assess-saturation.ts';
import type { FigureCollector } from './figures.ts';
import type { LoadFigures } from './load-protocol.ts';
import type { Stand } from './stand.ts';

/** Until renewals in flight have arrived and buffers are empty. */
const idleSettleMs = 3_000;

interface Consumption {
  readonly cpuSeconds: number;
  readonly seconds: number;
  readonly load: LoadFigures;
  /** cores that processes used which are not part of the bench. */
  readonly otherCores: number;
}

/** Returns for each window how many cores other processes used. */
export async function measureHeartbeats(
  stand: Stand,
  pid: number,
  collector: FigureCollector,
): Promise<readonly number[]> {
  const others: number[] = [];
  for (let window = 0; window < stand.plan.windows; window += 1) {
    const { cpuSeconds, load, otherCores } = await consume(stand, pid, stand.plan.heartbeatWindowMs);
    const rss = processFigures(pid).rssBytes / 1e6;
    collector.add({ cpuPerHeartbeat: (cpuSeconds * 1e6) / load.renewals }, load, steadyLimits);
    collector.add({ rss });
    others.push(otherCores);
  }
  return others;
}

/** No node renews, and no grace period ends. */
export async function measureIdle(stand: Stand, pid: number, collector: FigureCollector): Promise<void> {
  await stand.load.pause();
  await sleep(idleSettleMs);
  for (let window = 0; window < stand.plan.windows; window += 1) {
    const { cpuSeconds, seconds, load } = await consume(stand, pid, stand.plan.idleWindowMs);
    collector.add({ idleCpu: (cpuSeconds * 1_000) / seconds }, load, steadyLimits);
  }
  await stand.load.run();
}

async function consume(stand: Stand, pid: number, windowMs: number): Promise<Consumption> {
  const known = [...stand.pids, pid];
  const cpuOf = (pids: readonly number[]): number =>
    pids.reduce((sum, each) => sum + processFigures(each).cpuSeconds, 0);
  await stand.load.figures();
  const before = { at: performance.now(), own: cpuOf([pid]), known: cpuOf(known), all: machineBusySeconds() };
  await sleep(windowMs);
  const cpuSeconds = cpuOf([pid]) - before.own;
  const seconds = (performance.now() - before.at) / 1_000;
  const otherSeconds = machineBusySeconds() - before.all - (cpuOf(known) - before.known);
  return { cpuSeconds, seconds, load: await stand.load.figures(), otherCores: Math.max(0, otherSeconds / seconds) };
}
