// Times and rates of the test. The leader election times have the proportions of the defaults, 15 s : 10 s : 2 s.

import { jitterFactor, pollsPerRetryPeriod } from '../../../src/machinery/election/election-options.ts';

export const lease = { durationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 800 } as const;
/** The longest interval between two checks of the lease by a standby. */
export const lookMsMax = (lease.retryPeriodMs / pollsPerRetryPeriod) * (1 + jitterFactor);
export const graceMs = 6_000;
export const renewEveryMs = 2_000;
/** NoExecute taints per second, in healthy zones and in the fully disrupted one, where one takes longer than any handover. */
export const rates = { normal: 4, fullDisruption: 0.1 } as const;

export const controllerArgs: readonly string[] = [
  `--leader-elect-lease-duration=${lease.durationMs}ms`,
  `--leader-elect-renew-deadline=${lease.renewDeadlineMs}ms`,
  `--leader-elect-retry-period=${lease.retryPeriodMs}ms`,
  `--node-monitor-grace-period=${graceMs}ms`,
  '--node-monitor-period=1s',
  `--node-eviction-rate=${rates.normal}`,
  `--full-disruption-eviction-rate=${rates.fullDisruption}`,
  '--kube-api-qps=300',
  '--kube-api-burst=300',
];
