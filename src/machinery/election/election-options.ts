import type { Ambient } from '../ports/ambient.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { KubeReader } from '../ports/kube-reader.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Random } from '../ports/random.ts';
import type { ApiContact } from '../supervision/api-contact.ts';

/** The API calls that leader election needs. */
export type LeaseApi = Pick<KubeReader, 'get' | 'list'> & Pick<KubeWriter, 'create' | 'replace'>;

export interface ElectionOptions extends Ambient {
  readonly api: LeaseApi;
  readonly random: Random;
  /**
   * Contact that all clients of the process share: an answer to one ends the backoffs of all after an outage. Absent: one
   * of its own.
   */
  readonly contact?: ApiContact;
  /** Unique among all contenders, past ones included: a reused identity would inherit the other process's lease. */
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  /** Time that other contenders wait after the last observed renewal. Whole seconds on the wire, rounded up. Default 15 s. */
  readonly leaseDurationMs?: number;
  /** Time for which the leader relies on a renewal, counted from when it was sent. Default 10 s. */
  readonly renewDeadlineMs?: number;
  /** Interval between renewals, and after a failed attempt; a contender polls more often. Default 2 s. */
  readonly retryPeriodMs?: number;
  readonly recorder?: EventRecorder;
  /** Called when the holder in the lease changes, the first observation included; '' if the lease has no holder. */
  readonly onNewLeader?: (identity: string) => void;
  /** Called when the storage went back in time (etcd restored from a backup), or may have during a long gap whose history cannot be read. */
  readonly onRollback?: () => void;
  /** Awaited after the leader's work has ended and before the lease is released: the callback limits its own duration. */
  readonly beforeRelease?: () => Promise<void>;
}

/** The defaults of kube-controller-manager's `--leader-elect-*` flags. */
export const electionDefaults = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 } as const;

/** A contender waits one to 2.2 times its interval (client-go `leaderelection.JitterFactor`). */
export const jitterFactor = 1.2;
/** Polls of a contender per retry period: polls only read, and a released lease is taken soon. */
export const pollsPerRetryPeriod = 4;

export type ElectionSettings = Pick<ElectionOptions, 'identity' | 'namespace' | 'name'> & ElectionTiming;

interface ElectionTiming {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** All validation problems, one sentence each (client-go `NewLeaderElector`); empty if the settings are valid. */
export function electionProblems(settings: ElectionSettings): readonly string[] {
  return [...missingFields(settings), ...timingProblems(settings)];
}

function missingFields(settings: ElectionSettings): readonly string[] {
  return (['identity', 'namespace', 'name'] as const)
    .filter((field) => settings[field] === '')
    .map((field) => `${field} must not be empty`);
}

function timingProblems({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTiming): readonly string[] {
  const problems: string[] = [];
  for (const [field, ms] of Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }))
    if (!Number.isFinite(ms) || ms <= 0) problems.push(`${field} must be a positive number (got ${ms})`);
  if (leaseDurationMs <= renewDeadlineMs)
    problems.push(`leaseDurationMs (${leaseDurationMs}) must be greater than renewDeadlineMs (${renewDeadlineMs})`);
  if (renewDeadlineMs <= jitterFactor * retryPeriodMs)
    problems.push(
      `renewDeadlineMs (${renewDeadlineMs}) must be greater than ${jitterFactor} times retryPeriodMs (${retryPeriodMs})`,
    );
  return problems;
}
