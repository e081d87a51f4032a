// CPU time and memory of another process of this machine, from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** `sysconf(_SC_CLK_TCK)`: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

interface ProcessFigures {
  /** User and system time. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** Resident memory without pages of files, which processes share and the kernel can take back. */
  readonly privateBytes: number;
  /** Peak resident memory. */
  readonly peakRssBytes: number;
}

export function processFigures(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuSeconds: exactCpuSeconds(pid) ?? tickedCpuSeconds(pid),
    rssBytes: kibibytes(status, 'VmRSS') * 1_024,
    privateBytes: kibibytes(status, 'RssAnon') * 1_024,
    peakRssBytes: kibibytes(status, 'VmHWM') * 1_024,
  };
}

/**
 * The run time of all threads, in nanoseconds of the scheduler: an idle process uses less than a tick in seconds. Threads
 * that have ended are missing, which the programs measured here do not do. Undefined without scheduler statistics.
 */
function exactCpuSeconds(pid: number): number | undefined {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readIfPresent(`/proc/${pid}/task/${thread}/schedstat`);
    nanoseconds += Number(text?.split(' ')[0] ?? 0);
  }
  return nanoseconds === 0 ? undefined : nanoseconds / 1e9;
}

function tickedCpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may contain anything, so the fields start after the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** CPU time of the whole machine that was not idle. */
export function machineBusySeconds(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.trim().split(/\s+/u).slice(1).map(Number);
  return (user + nice + system + irq + softirq) / ticksPerSecond;
}

/** A thread may end while it is read. */
function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function kibibytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN);
}
