/** Pods whose deletion is due and that wait because of the policy of their node. */
import type { TokenWait } from '../../machinery/queueing/token-queues.ts';
import type { EvictionRefusal } from './commands.ts';
import type { DeletionRate } from './policy.ts';

/** A pod that waits for a token of the policy of its node. */
export type RateWait = DeletionRate & Omit<TokenWait, 'queue'>;

/** Why the Eviction API has not evicted a pod. `failing`: its requests fail without an answer about the pod, as while the server is overloaded. */
export type WhyNotEvicted = EvictionRefusal | 'failing';

/** The policy, and `rate`, `responder` or {@link WhyNotEvicted}. */
export type WaitingPod = Readonly<Record<'policy' | 'reason', string>>;

export function toRateWait(rate: DeletionRate, { ahead, nextTokenAtMs }: TokenWait): RateWait {
  return { ...rate, ahead, nextTokenAtMs };
}
