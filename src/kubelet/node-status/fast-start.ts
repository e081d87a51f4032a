import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { RuntimeState } from '../machine/runtime-state.ts';
import type { KubeletProfile } from '../profile.ts';
import type { StatusPublisher } from './status-publisher.ts';

export interface FastStartOptions {
  readonly publisher: StatusPublisher;
  readonly runtime: RuntimeState;
  readonly profile: KubeletProfile;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Looks ten times a second whether a node that just started would be ready, so that nobody waits a period for it. Ends
 * when it is, or when it has taken too long (kubelet `fastStatusUpdateOnce`).
 */
export async function runFastStart(options: FastStartOptions, signal: AbortSignal): Promise<void> {
  const { publisher, runtime, profile, clock, logger } = options;
  const startedAtMs = clock.monotonicMs();
  while (!signal.aborted) {
    if (clock.monotonicMs() - startedAtMs >= profile.fastStatusMsMax) {
      logger.error({ afterMs: profile.fastStatusMsMax }, 'Node not becoming ready in time after startup');
      return;
    }
    const problems = [...runtime.runtimeErrors(), ...runtime.networkErrors()];
    if (problems.length > 0) await runtime.check(signal);
    if (await publisher.publishOnceReady(signal)) return;
    await clock.sleep(profile.fastStatusPeriodMs, signal);
  }
}
