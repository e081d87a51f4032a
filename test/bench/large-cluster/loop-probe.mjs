// Loaded into the measured process by `--import`: sends the delays of its event loop to the parent once a second.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 10;
const everyMs = 1_000;

const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
const milliseconds = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolutionMs);
setInterval(() => {
  const report = { maxMs: milliseconds(delays.max), p99Ms: milliseconds(delays.percentile(99)) };
  delays.reset();
  process.send?.(report);
}, everyMs).unref();
process.channel?.unref();
