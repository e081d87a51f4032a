// The times and rates of the test. The lease's have the proportions of the defaults, 15 s : 10 s : 2 s.

import { jitterFactor, looksPerRetryPeriod } from '../../../src/election/election-options.ts';

export const lease = { durationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 800 } as const;
/** The longest pause of a standby between two looks at the lease. */
export const lookMsMax = (lease.retryPeriodMs / looksPerRetryPeriod) * (1 + jitterFactor);
export const graceMs = 6_000;
export const renewEveryMs = 2_000;
/** NoExecute taints a second, in a zone that is well and in the one that is dark: there one takes longer than any handover. */
export const rates = { normal: 4, dark: 0.1 } as const;

export const controllerArgs: readonly string[] = [
  `--leader-elect-lease-duration=${lease.durationMs}ms`,
  `--leader-elect-renew-deadline=${lease.renewDeadlineMs}ms`,
  `--leader-elect-retry-period=${lease.retryPeriodMs}ms`,
  `--node-monitor-grace-period=${graceMs}ms`,
  '--node-monitor-period=1s',
  `--node-eviction-rate=${rates.normal}`,
  `--full-disruption-eviction-rate=${rates.dark}`,
  '--kube-api-qps=300',
  '--kube-api-burst=300',
];
