// All figures of one controller: once without expiries, for CPU and memory, and once with a short grace period.
import { setTimeout as sleep } from 'node:timers/promises';
import { processFigures } from '../process-figures.ts';
import { acceptedWrites } from './accepted-writes.ts';
import type { Contender, Running } from './contenders.ts';
import { FigureCollector, type Figures } from './figures.ts';
import type { LoadFigures } from './load-protocol.ts';
import { measureDetection } from './measure-detection.ts';
import { measureStart } from './measure-start.ts';
import { measureBaseline, measureHeartbeats, measureIdle } from './measure-steady.ts';
import { measurePlainClient, measureZoneLoss } from './measure-zone-loss.ts';
import { longGraceMs, shortGraceMs } from './plan.ts';
import { renewEveryMs } from './renewal-schedule.ts';
import { socketBytes } from './socket-bytes.ts';
import type { Stand } from './stand.ts';

export interface Measured {
  readonly figures: Figures;
  readonly loads: readonly LoadFigures[];
  /** cores that processes used which are not part of the bench, in each window with heartbeats. */
  readonly otherCores: readonly number[];
  /** Nodes that became Unknown although they renewed. */
  readonly falselyUnknown: readonly string[];
}

/** No Event is written in this time once the start is over. */
const eventsQuietMs = 5_000;
const eventsMsMax = 600_000;
/** In this time both have read all nodes, pods and leases. */
const startMs = 5_000;

type Say = (line: string) => void;

export async function measureContender(stand: Stand, contender: Contender, say: Say): Promise<Measured> {
  const collector = new FigureCollector();
  stand.observer.takeFalselyUnknown();
  const progress = (what: string): void => say(`${contender}: ${what}`);
  for (let start = 0; start < stand.plan.extraStarts; start += 1) {
    progress('start');
    await whileRunning(stand, contender, { graceMs: longGraceMs, collector }, () => Promise.resolve());
  }
  progress('no controller');
  const baseline = await measureBaseline(stand, collector);
  let otherCores: readonly number[] = [];
  progress('start and warm-up');
  const steadyPeak = await whileRunning(stand, contender, { graceMs: longGraceMs, collector }, async ({ pid }) => {
    await sleep(startMs);
    collector.add({ apiStartBytes: sum(socketBytes(pid).values()) / 1e6 });
    await warmedUp(stand);
    progress('heartbeats');
    otherCores = await measureHeartbeats(stand, { pid, collector });
    progress('no heartbeats');
    await measureIdle(stand, { pid, collector, baseline });
  });
  // Each node has renewed before the short grace period counts.
  await sleep(renewEveryMs);
  progress('start with a short grace period');
  const peak = await whileRunning(stand, contender, { graceMs: shortGraceMs, collector }, async () => {
    await sleep(renewEveryMs);
    progress('silent nodes');
    await measureDetection(stand, collector);
    progress('loss of a zone');
    await measureZoneLoss(stand, collector);
  });
  progress('loss of a zone without a controller');
  await measurePlainClient(stand, collector);
  collector.add({ peakRss: Math.max(steadyPeak, peak) / 1e6 });
  const falselyUnknown = stand.observer.takeFalselyUnknown();
  return { figures: collector.figures(), loads: collector.loads(), otherCores, falselyUnknown };
}

interface Run {
  readonly graceMs: number;
  readonly collector: FigureCollector;
}

/** Returns the peak of the resident memory of this process, in bytes. */
async function whileRunning(
  stand: Stand,
  contender: Contender,
  { graceMs, collector }: Run,
  measure: (running: Running) => Promise<void>,
): Promise<number> {
  const { running, seconds } = await measureStart(stand, contender, graceMs);
  try {
    collector.add({ start: seconds });
    await measure(running);
    running.check();
    return processFigures(running.pid).peakRssBytes;
  } finally {
    await running.stop();
  }
}

/** Both controllers write an Event about each node when they start, for minutes: it is no cost of heartbeats. */
async function warmedUp({ client, plan }: Stand): Promise<void> {
  await sleep(plan.warmUpMs - startMs);
  const deadlineMs = performance.now() + eventsMsMax;
  let written = -1;
  for (let before = -2; written !== before && performance.now() < deadlineMs; ) {
    before = written;
    await sleep(eventsQuietMs);
    written = await acceptedWrites(client, /resource="events"/u);
  }
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}
