import type { NodeView } from '../api/node.ts';
import { type Taint, taintKeys } from '../api/taints.ts';
import type { TaintFacts } from './explain/facts.ts';
import {
  deriveNoExecuteNeed,
  deriveNoScheduleChange,
  healthTaintsOf,
  type NoExecuteNeed,
} from './tainting/derive-taints.ts';

const ourKeys: ReadonlySet<string> = new Set(Object.values(taintKeys));

/**
 * What a node carries of our taints, what it should carry, and which of that has to wait for its turn. `ready` is the
 * status of its Ready condition.
 */
export function deriveTaintFacts(node: NodeView, ready: string, everyZoneDark: boolean): TaintFacts {
  const carriedHealth = healthTaintsOf(node.taints);
  const noSchedule = deriveNoScheduleChange(node, '');
  const carriedNoSchedule = node.taints.filter(({ key, effect }) => effect === 'NoSchedule' && ourKeys.has(key));
  const kept = carriedNoSchedule.filter((taint) => !noSchedule.remove.includes(taint));
  const noExecute = everyZoneDark
    ? pardoned(carriedHealth)
    : wantedOf(deriveNoExecuteNeed(ready, node.taints), carriedHealth);
  return {
    carried: node.taints,
    wanted: [...kept, ...noSchedule.add.map(unstamped), ...noExecute.wanted],
    surplus: [...noSchedule.remove, ...noExecute.surplus],
    rationedKey: noExecute.rationedKey,
  };
}

type NoExecuteFacts = Omit<TaintFacts, 'carried'>;

function pardoned(carried: readonly Taint[]): NoExecuteFacts {
  return { wanted: [], surplus: carried, rationedKey: undefined };
}

function wantedOf(need: NoExecuteNeed, carried: readonly Taint[]): NoExecuteFacts {
  switch (need.need) {
    case 'settled':
      return { wanted: carried, surplus: [], rationedKey: undefined };
    case 'none':
      return { wanted: [], surplus: need.remove, rationedKey: undefined };
    case 'swap':
      return { wanted: [unstamped(need.add)], surplus: need.remove, rationedKey: undefined };
    case 'add':
      return { wanted: [{ key: need.key, effect: 'NoExecute' }], surplus: [], rationedKey: need.key };
  }
}

/** A taint that is not there yet has no time. */
function unstamped({ key, effect }: Taint): Taint {
  return { key, effect };
}
