import { nodeLeaseNamespace } from '../../api/resources.ts';
import type { OutageReckoning, RateRule } from '../decisions.ts';
import { deriveEstimate } from './derive-time.ts';
import type { Circumstances, NodeFacts, ZoneFacts } from './facts.ts';
import type { Hold, Unblocker } from './outlook.ts';

const leaseReading = `get and list of leases in ${nodeLeaseNamespace}`;

/** What keeps us from acting anywhere. */
export function deriveHolds({
  now,
  leading,
  shadow = false,
  holder,
  blind,
  everyZoneDark,
  outageHold,
}: Circumstances): readonly Hold[] {
  const holds: Hold[] = [];
  if (shadow) holds.push({ kind: 'shadow', unblockedBy: [{ kind: 'flag', flag: 'shadow', wanted: 'left out' }] });
  if (!leading) holds.push({ kind: 'not-leader', unblockedBy: [{ kind: 'ask-leader', holder: holder ?? null }] });
  if (blind !== undefined) holds.push({ kind: 'blind', reason: blind, unblockedBy: [{ kind: 'contact-with-api' }] });
  if (everyZoneDark) {
    const unblockedBy: readonly Unblocker[] = [{ kind: 'nodes-ready', zone: null, count: 1 }];
    holds.push({ kind: 'every-zone-dark', unblockedBy });
  }
  if (outageHold !== undefined) {
    const { why, untilMs, recovering } = outageHold;
    const byTime: Unblocker = { kind: 'time', when: deriveEstimate(untilMs, now) };
    const byNodes: Unblocker = { kind: 'nodes-ready', zone: null, count: deriveRecoveriesToEnd(why) };
    holds.push({ kind: 'outage', why, unblockedBy: recovering ? [byTime] : [byTime, byNodes] });
  }
  return holds;
}

/** What keeps us from calling this node silent: before that the API server itself is asked, and no answer is no evidence. */
export function deriveNodeHolds({ health, ready, history }: NodeFacts): readonly Hold[] {
  const last = history.at(-1)?.decision;
  if (last?.kind !== 'verdict-held' || last.why === 'lease-renewed') return [];
  if (health?.silent !== true || ready === 'Unknown') return [];
  const unblocker: Unblocker =
    last.why === 'not-permitted' ? { kind: 'permission', needed: leaseReading } : { kind: 'contact-with-api' };
  return [{ kind: 'unconfirmed', unblockedBy: [unblocker] }];
}

/** What keeps this zone's line from moving, besides what keeps all of them. */
export function deriveZoneHolds(facts: ZoneFacts): readonly Hold[] {
  const { zone, reckoning, line } = facts;
  if (reckoning === undefined || line.ratePerSecond > 0 || reckoning.rule === 'every-zone-dark') return [];
  return [{ kind: 'zone-stopped', zone, rule: reckoning.rule, unblockedBy: unblockers(facts, reckoning.rule) }];
}

const rateFlags: Readonly<Partial<Record<RateRule, string>>> = {
  normal: 'node-eviction-rate',
  'zone-dark': 'node-eviction-rate',
  'large-zone-disrupted': 'secondary-node-eviction-rate',
};

function unblockers({ zone, recoveriesToNormal }: ZoneFacts, rule: RateRule): readonly Unblocker[] {
  const flag = rateFlags[rule];
  const byFlag: readonly Unblocker[] = flag === undefined ? [] : [{ kind: 'flag', flag, wanted: 'above 0' }];
  const helps = rule === 'small-zone-disrupted' || rule === 'large-zone-disrupted';
  if (!helps || recoveriesToNormal === undefined) return byFlag;
  return [{ kind: 'nodes-ready', zone, count: recoveriesToNormal }, ...byFlag];
}

/** So many of the nodes that fell together must be heard again, at the most, before they are too few to be an outage. */
function deriveRecoveriesToEnd({ together, of, shareMin }: OutageReckoning): number {
  return together - Math.ceil(of * shareMin) + 1;
}
