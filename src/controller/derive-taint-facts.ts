import type { NodeView } from '../api/node.ts';
import { type Taint, taintKeys } from '../api/taints.ts';
import type { Mode, TaintFacts } from './explain/facts.ts';
import {
  deriveNoExecuteNeed,
  deriveNoScheduleChange,
  healthTaintsOf,
  type NoExecuteNeed,
} from './tainting/derive-taints.ts';

const ourKeys: ReadonlySet<string> = new Set(Object.values(taintKeys));

export interface TaintCircumstances {
  readonly mode: Mode;
  readonly everyZoneDark: boolean;
}

/**
 * What a node carries of our taints, what it should carry, and which of that has to wait for its turn. `ready` is the
 * status of its Ready condition.
 */
export function deriveTaintFacts(node: NodeView, ready: string, circumstances: TaintCircumstances): TaintFacts {
  const noSchedule = deriveNoScheduleChange(node, '');
  const carriedNoSchedule = node.taints.filter(({ key, effect }) => effect === 'NoSchedule' && ourKeys.has(key));
  const kept = carriedNoSchedule.filter((taint) => !noSchedule.remove.includes(taint));
  const noExecute = noExecuteFacts(node.taints, ready, circumstances);
  return {
    carried: node.taints,
    wanted: [...kept, ...noSchedule.add.map(unstamped), ...noExecute.wanted],
    surplus: [...noSchedule.remove, ...noExecute.surplus],
    rationedKey: noExecute.rationedKey,
  };
}

type NoExecuteFacts = Omit<TaintFacts, 'carried'>;

/** Eviction mode gives none, leaves a failed node what the other mode gave it, and takes that when it is Ready. */
function noExecuteFacts(
  taints: readonly Taint[],
  ready: string,
  { mode, everyZoneDark }: TaintCircumstances,
): NoExecuteFacts {
  const carried = healthTaintsOf(taints);
  if (everyZoneDark) return pardoned(carried);
  if (mode === 'taint' || ready === 'True') return wantedOf(deriveNoExecuteNeed(ready, taints), carried);
  return { wanted: carried, surplus: [], rationedKey: undefined };
}

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
