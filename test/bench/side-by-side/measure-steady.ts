// CPU and memory while nothing happens, with heartbeats and without, and what the API server spends on the controller.
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../percentile.ts';
import { machineBusySeconds, processFigures } from '../process-figures.ts';
import { steadyLimits } from './assess-saturation.ts';
import type { FigureCollector } from './figures.ts';
import type { LoadFigures } from './load-protocol.ts';
import { bytesBetween, socketBytes } from './socket-bytes.ts';
import type { Stand } from './stand.ts';

/** Until renewals in flight have arrived and buffers are empty. */
const idleSettleMs = 3_000;

/** CPU of the API server while no controller runs: the part of kubelets and of the bench. */
interface Baseline {
  readonly idleMsPerSecond: number;
}

interface Consumption {
  /** Of the controller. */
  readonly cpuSeconds: number;
  readonly apiServerCpuSeconds: number;
  /** Between the controller and the API server. */
  readonly bytes: number;
  /** Resident memory of the controller at the end. */
  readonly rssBytes: number;
  readonly privateBytes: number;
  readonly seconds: number;
  readonly load: LoadFigures;
  /** cores that processes used which are not part of the bench. */
  readonly otherCores: number;
}

/** Measures without a controller. */
export async function measureBaseline(stand: Stand, collector: FigureCollector): Promise<Baseline> {
  const { heartbeatWindowMs, idleWindowMs } = stand.plan;
  const steady = await windows(stand, undefined, heartbeatWindowMs);
  const idle = await whilePaused(stand, () => windows(stand, undefined, idleWindowMs));
  for (const consumption of steady) collector.add({ apiBaseCpu: apiServerMicros(consumption) });
  return { idleMsPerSecond: median(idle.map(apiServerMillis)) };
}

interface Measuring {
  readonly pid: number;
  readonly collector: FigureCollector;
  readonly baseline: Baseline;
}

/** Returns for each window how many cores other processes used. */
export async function measureHeartbeats(
  stand: Stand,
  { pid, collector }: Omit<Measuring, 'baseline'>,
): Promise<readonly number[]> {
  const measured = await windows(stand, pid, stand.plan.heartbeatWindowMs);
  for (const consumption of measured) {
    const { cpuSeconds, bytes, rssBytes, privateBytes, load } = consumption;
    collector.add({ rss: rssBytes / 1e6, privateRss: privateBytes / 1e6 });
    const values = {
      cpuPerHeartbeat: (cpuSeconds * 1e6) / load.renewals,
      apiCpu: apiServerMicros(consumption),
      apiBytes: bytes / load.renewals,
    };
    collector.add(values, load, steadyLimits);
  }
  return measured.map(({ otherCores }) => otherCores);
}

/** No node renews, and no grace period ends. */
export async function measureIdle(stand: Stand, { pid, collector, baseline }: Measuring): Promise<void> {
  const measured = await whilePaused(stand, () => windows(stand, pid, stand.plan.idleWindowMs));
  for (const consumption of measured) {
    const { cpuSeconds, seconds, load } = consumption;
    const apiIdleCpu = apiServerMillis(consumption) - baseline.idleMsPerSecond;
    collector.add({ idleCpu: (cpuSeconds * 1_000) / seconds, apiIdleCpu }, load, steadyLimits);
  }
}

function apiServerMicros({ apiServerCpuSeconds, load }: Consumption): number {
  return (apiServerCpuSeconds * 1e6) / load.renewals;
}

function apiServerMillis({ apiServerCpuSeconds, seconds }: Consumption): number {
  return (apiServerCpuSeconds * 1_000) / seconds;
}

async function whilePaused<T>({ load }: Stand, measure: () => Promise<T>): Promise<T> {
  await load.pause();
  await sleep(idleSettleMs);
  const measured = await measure();
  await load.run();
  return measured;
}

/** `pid`: the controller, if one runs. */
async function windows(stand: Stand, pid: number | undefined, windowMs: number): Promise<readonly Consumption[]> {
  const measured: Consumption[] = [];
  for (let window = 0; window < stand.plan.windows; window += 1) {
    measured.push(await consume(stand, pid, windowMs));
  }
  return measured;
}

async function consume(stand: Stand, pid: number | undefined, windowMs: number): Promise<Consumption> {
  await stand.load.figures();
  const before = readCounters(stand, pid);
  await sleep(windowMs);
  const after = readCounters(stand, pid);
  const seconds = (after.atMs - before.atMs) / 1_000;
  const otherSeconds = after.machine - before.machine - (after.known - before.known);
  return {
    cpuSeconds: after.own - before.own,
    apiServerCpuSeconds: after.apiServer - before.apiServer,
    bytes: bytesBetween(before.sockets, after.sockets),
    rssBytes: after.rssBytes,
    privateBytes: after.privateBytes,
    seconds,
    load: await stand.load.figures(),
    otherCores: Math.max(0, otherSeconds / seconds),
  };
}

const noFigures = { cpuSeconds: 0, rssBytes: 0, privateBytes: 0 } as const;

/** CPU in seconds. */
function readCounters({ pids, plane }: Stand, pid: number | undefined) {
  const { cpuSeconds: own, rssBytes, privateBytes } = pid === undefined ? noFigures : processFigures(pid);
  const others = pids.reduce((sum, each) => sum + processFigures(each).cpuSeconds, 0);
  return {
    atMs: performance.now(),
    own,
    rssBytes,
    privateBytes,
    known: own + others,
    apiServer: processFigures(plane.pids.apiServer ?? Number.NaN).cpuSeconds,
    machine: machineBusySeconds(),
    sockets: pid === undefined ? new Map<string, number>() : socketBytes(pid),
  };
}
