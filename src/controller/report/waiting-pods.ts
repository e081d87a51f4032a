import type { ActingStages } from '../acting-stages.ts';
import type { WaitingPod } from '../model/waiting-pods.ts';
import { gauge, type Meter } from '../../machinery/ports/meter.ts';

export const waitingPods = gauge(
  'node_lifecycle_waiting_pods',
  'Number of pods whose deletion is due and waits because of the policy of their node, by policy and reason: rate, for a token of podDeletionsPerSecond; responder, for an eviction responder; failing, for the Eviction API; else why that refused them.',
  ['policy', 'reason'],
);

/** Updates the gauge on every scrape. Costs time proportional to the timed evictions. */
export function showWaitingPods(meter: Meter, { evictor, podEvictor }: ActingStages): void {
  let shown = new Map<string, WaitingPod>();
  meter.onRead(() => {
    for (const labels of shown.values()) meter.forget(waitingPods, labels);
    shown = new Map();
    for (const labels of [...evictor.waits(), ...(podEvictor?.waits() ?? [])]) {
      meter.add(waitingPods, 1, labels);
      shown.set(`${labels.policy} ${labels.reason}`, labels);
    }
  });
}
