import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { KubeReader } from '../ports/kube-reader.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';

/** All that an election needs of the API server. */
export type LeaseApi = Pick<KubeReader, 'get'> & Pick<KubeWriter, 'create' | 'replace'>;

export interface ElectionOptions {
  readonly api: LeaseApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Ours alone among all contenders, ever: a name that another process once had would inherit its lease. */
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  /** How long others wait after the last renewal they saw. Whole seconds on the wire, rounded up. Default 15 s. */
  readonly leaseDurationMs?: number;
  /** How long a leader counts on a renewal, from the moment it sent it. Default 10 s. */
  readonly renewDeadlineMs?: number;
  /** From one renewal to the next, and after an attempt that failed; a contender looks more often. Default 2 s. */
  readonly retryPeriodMs?: number;
  readonly recorder?: EventRecorder;
  /** Told whenever another name shows in the lease, the first look included; '' when it names nobody any more. */
  readonly onNewLeader?: (identity: string) => void;
  /** Called once the leader's work has ended, and waited for before the lease is given back: whoever supplies it bounds it. */
  readonly lastWords?: () => Promise<void>;
}

/** The defaults of kube-controller-manager's `--leader-elect-*` flags. */
export const electionDefaults = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 } as const;

/** A contender waits one to 2.2 times its pause (client-go `leaderelection.JitterFactor`). */
export const jitterFactor = 1.2;
/** Looks of a contender in one retry period: it only reads, and a lease that was given back is not left lying for long. */
export const looksPerRetryPeriod = 4;

export type ElectionSettings = Pick<ElectionOptions, 'identity' | 'namespace' | 'name'> & ElectionTiming;

interface ElectionTiming {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** All that is wrong, one sentence each (client-go `NewLeaderElector`); empty if nothing is. */
export function electionProblems(settings: ElectionSettings): readonly string[] {
  return [...namelessness(settings), ...timingProblems(settings)];
}

function namelessness(settings: ElectionSettings): readonly string[] {
  return (['identity', 'namespace', 'name'] as const)
    .filter((field) => settings[field] === '')
    .map((field) => `${field} must not be empty`);
}

function timingProblems({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTiming): readonly string[] {
  const problems: string[] = [];
  for (const [field, ms] of Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }))
    if (!Number.isFinite(ms) || ms <= 0) problems.push(`${field} must be a positive number, got ${ms}`);
  if (leaseDurationMs <= renewDeadlineMs)
    problems.push(`leaseDurationMs (${leaseDurationMs}) must be greater than renewDeadlineMs (${renewDeadlineMs})`);
  if (renewDeadlineMs <= jitterFactor * retryPeriodMs)
    problems.push(
      `renewDeadlineMs (${renewDeadlineMs}) must be greater than ${jitterFactor} times retryPeriodMs (${retryPeriodMs})`,
    );
  return problems;
}
