import { closeSync, openSync, writeSync } from 'node:fs';
import type { GroundTruth } from '../../../hollow-cluster/kubelet/faults/ground-truth.ts';
import type { FleetStatus, HollowFleet } from '../../../hollow-cluster/kubelet/fleet/fleet.ts';
import { type Lateness, validLatenessMsMax } from '../../../hollow-cluster/kubelet/loops/lateness.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { CommandIo } from '../../io/command-io.ts';

/** State of a run of hollow nodes, and whether this process is fast enough to simulate them. */
export interface FleetReport extends FleetStatus {
  readonly seconds: number;
  readonly renewalsPerSecond: number;
  readonly faults: number;
  /** Delay of timers after their deadline, in milliseconds. */
  readonly lateness: { readonly p99Ms: number; readonly maxMs: number };
  /** False: this process was too slow, so measurements of the server or controller under load are not valid. */
  readonly validLoadTest: boolean;
  readonly rssMiB: number;
  readonly cpuSeconds: number;
}

interface MeasuredFleet {
  readonly fleet: HollowFleet;
  readonly lateness: Lateness;
  /** Monotonic. */
  readonly startedAtMs: number;
  readonly nowMs: number;
}

const bytesPerMiB = 1_024 * 1_024;

export function reportFleet({ fleet, lateness, startedAtMs, nowMs }: MeasuredFleet): FleetReport {
  const status = fleet.status();
  const seconds = (nowMs - startedAtMs) / 1_000;
  const { user, system } = process.cpuUsage();
  return {
    ...status,
    seconds: rounded(seconds, 1),
    renewalsPerSecond: rounded(seconds === 0 ? 0 : status.renewals / seconds, 1),
    faults: fleet.faults.list().length,
    lateness: { p99Ms: rounded(lateness.p99Ms, 1), maxMs: rounded(lateness.maxMs, 1) },
    validLoadTest: lateness.isValid,
    rssMiB: Math.round(process.memoryUsage.rss() / bytesPerMiB),
    cpuSeconds: rounded((user + system) / 1e6, 1),
  };
}

/** The summary at the end of a run. */
export function describeReport(report: FleetReport): string {
  const { nodes, registered, ready, renewals, seconds, lateness, rssMiB, cpuSeconds } = report;
  const lines = [
    `${registered} of ${nodes} nodes were registered, ${ready} were Ready at the end; their heartbeats stop now`,
    `${renewals} lease renewals in ${seconds} s (${report.renewalsPerSecond}/s), ${rssMiB} MiB memory, ${cpuSeconds} s CPU time`,
    `timer lateness: p99 ${lateness.p99Ms} ms, max ${lateness.maxMs} ms`,
  ];
  if (!report.validLoadTest) {
    lines.push(`this run is not a valid load test: more than 1% of the timers were over ${validLatenessMsMax} ms late`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

/** One line of the log, as JSON with a fixed order of fields. */
function describeTruth({ atMs, sinceStartMs, node, fault, kind, change }: GroundTruth): string {
  const at = new Date(atMs).toISOString();
  return JSON.stringify({ at, sinceStartMs: Math.round(sinceStartMs * 1_000) / 1_000, node, fault, kind, change });
}

/** Log file of the injected faults with node and time, to compare with the decisions of a controller. */
export class GroundTruthLog {
  readonly #file: number;

  /** Truncates the file. Throws if it cannot be opened. */
  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  write(truth: GroundTruth): void {
    writeSync(this.#file, `${describeTruth(truth)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

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
