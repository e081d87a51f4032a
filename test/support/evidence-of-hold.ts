import type { EvictionHold } from '../../src/controller/model/decisions.ts';
import type { HoldEvidence } from '../../src/controller/model/holds.ts';

const source = { kind: 'policy', policy: 'p' } as const;

const evidence: Readonly<Record<EvictionHold, Partial<HoldEvidence>>> = {
  observed: { mode: { mode: 'Observe', source, untilMs: Infinity } },
  paused: { mode: { mode: 'Paused', source, untilMs: Infinity } },
  veto: { veto: { kind: 'label', name: 'l', owner: null, policy: 'p', untilMs: Infinity } },
  'detect-only': { mode: { mode: 'Detect', source, untilMs: Infinity } },
  maintenance: {
    maintenance: { policy: 'p', untilMs: Infinity, hold: { by: [], untilMs: Infinity, endsWithSilence: false } },
  },
  breaker: { breaker: { policy: 'p', openedAtMs: 0, untilMs: Infinity } },
  'hourly-limit': { hourlyLimit: { policy: 'p', max: 1, untilMs: Infinity } },
  stale: { stale: 'no-contact' },
  'stale-pods': { arePodsStale: true },
  'full-disruption': { isFullyDisrupted: true },
  'node-is-ready': { isReady: true },
  'lease-is-renewed': { isLeaseRenewed: true },
  'late-cache': { isCacheLate: true },
};

/** Evidence from which this hold of deletions follows; from undefined nothing does. */
export function evidenceOfHold(kind: EvictionHold | undefined): Partial<HoldEvidence> {
  return kind === undefined ? {} : evidence[kind];
}
