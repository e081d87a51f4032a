import { validLatenessMsMax, type Lateness } from '../../kubelet/lateness.ts';
import type { FleetStatus, HollowFleet } from '../../kubelet/fleet.ts';

/** How a run of hollow nodes goes: what they do, and whether this process keeps up with them. */
export interface FleetReport extends FleetStatus {
  readonly seconds: number;
  readonly renewalsPerSecond: number;
  readonly faults: number;
  /** How late things were that were due, in milliseconds. */
  readonly lateness: { readonly p99Ms: number; readonly maxMs: number };
  /** False: this process was too slow itself, so nothing that was measured on the other side means anything. */
  readonly validLoadTest: boolean;
  readonly rssMiB: number;
  readonly cpuSeconds: number;
}

export interface Measured {
  readonly fleet: HollowFleet;
  readonly lateness: Lateness;
  /** Monotonic. */
  readonly startedAtMs: number;
  readonly nowMs: number;
}

const bytesPerMiB = 1_024 * 1_024;

export function reportFleet({ fleet, lateness, startedAtMs, nowMs }: Measured): FleetReport {
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

/** The last words of a run. */
export function describeReport(report: FleetReport): string {
  const { nodes, registered, ready, renewals, seconds, lateness, rssMiB, cpuSeconds } = report;
  const lines = [
    `${registered} of ${nodes} nodes were registered, ${ready} said ready at the end; they go silent now`,
    `${renewals} lease renewals in ${seconds} s (${report.renewalsPerSecond} a second), ${rssMiB} MiB, ${cpuSeconds} s of CPU`,
    `lateness: 99 % within ${lateness.p99Ms} ms, at most ${lateness.maxMs} ms`,
  ];
  if (!report.validLoadTest) {
    lines.push(`this run is not a valid load test: more than one in a hundred came over ${validLatenessMsMax} ms late`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
