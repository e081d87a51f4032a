import type { Meter } from '../../machinery/ports/meter.ts';
import type { BudgetUsage } from './kept-nodes.ts';
import { flappingNodes } from './metrics.ts';

/** Sets the gauge of each policy at each scrape; nothing without such a policy. */
export function showFlappingNodes(meter: Meter, usages: () => ReadonlyMap<string, BudgetUsage>): void {
  let shown: ReadonlyMap<string, BudgetUsage> = new Map();
  meter.onRead(() => {
    for (const policy of shown.keys()) meter.forget(flappingNodes, { policy });
    shown = usages();
    for (const [policy, { kept }] of shown) meter.set(flappingNodes, kept, { policy });
  });
}
