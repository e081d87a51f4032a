// CPU time and memory of another process of this machine, from /proc.
import { readFileSync } from 'node:fs';

/** `sysconf(_SC_CLK_TCK)`: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

interface ProcessFigures {
  /** User and system time. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** Peak resident memory. */
  readonly peakRssBytes: number;
}

export function processFigures(pid: number): ProcessFigures {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may contain anything, so the fields start after the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    rssBytes: kibibytes(status, 'VmRSS') * 1_024,
    peakRssBytes: kibibytes(status, 'VmHWM') * 1_024,
  };
}

function kibibytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN);
}
