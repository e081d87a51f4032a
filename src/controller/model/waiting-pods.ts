/** Pods whose deletion is due and that wait because of the policy of their node. */
import type { TokenWait } from '../../machinery/queueing/token-queues.ts';
import type { DeletionRate } from './policy.ts';

/** A pod that waits for a token of the policy of its node. */
export type RateWait = DeletionRate & Omit<TokenWait, 'queue'>;

/** The policy, and `rate` or why the Eviction API refuses it. */
export type WaitingPod = Readonly<Record<'policy' | 'reason', string>>;

export function toRateWait(rate: DeletionRate, { ahead, nextTokenAtMs }: TokenWait): RateWait {
  return { ...rate, ahead, nextTokenAtMs };
}
