import { taintKeys } from '../../src/machinery/api/taints.ts';
import type { Estimate, EvictionOutlook, NodeOutlook } from '../../src/controller/report/pages.ts';
import type { NodeCell } from '../../src/dashboard/protocol.ts';

const graceSeconds = 50;
const podsShown = 4;

/** What `/explain/nodes/NAME` answers about a synthetic node. */
export function buildSyntheticOutlook(cell: NodeCell): NodeOutlook {
  const sinceMs = Date.parse(cell.since);
  const isSilent = cell.state !== 'ready';
  const past = (atMs: number) => ({ at: new Date(atMs).toISOString(), secondsAgo: (Date.now() - atMs) / 1_000 });
  const key = taintKeys.unreachable;
  return {
    node: cell.name,
    ready: isSilent ? 'Unknown' : 'True',
    state: cell.state,
    lastHeartbeat: { ...past(sinceMs - graceSeconds * 1_000), channel: 'lease' },
    grace: { seconds: graceSeconds, rule: 'monitor', flag: '--node-monitor-grace-period', policy: cell.policy },
    silence: {
      silent: isSilent,
      since: isSilent ? past(sinceMs) : null,
      from: isSilent ? null : estimate(graceSeconds),
    },
    policy: cell.policy === null ? null : { name: cell.policy, mode: 'Enforce', conflict: [] },
    outOfService: null,
    zone: {
      zone: cell.zone,
      condition: 'normal',
      arithmetic: null,
      ratePerSecond: 0.1,
      queue: { waiting: 0, first: [], tokens: 1, nextToken: estimate(0) },
      holds: [],
    },
    counted: true,
    taints: { carried: [], wanted: isSilent ? [{ key, effect: 'NoExecute' }] : [] },
    queue: null,
    holds: [],
    next: { act: 'add-taint', subject: key, given: 'no-heartbeat', when: estimate(20) },
    noExecuteTaint: isSilent ? { key, given: 'no-heartbeat', when: estimate(20) } : null,
    eviction: null,
    evictions: { scheduled: 0, predicted: podsShown, spared: 0, first: isSilent ? buildEvictions(key) : [] },
    problems: [],
    history: isSilent
      ? [
          {
            at: cell.since,
            decision: { kind: 'node-removed', node: cell.name },
            text: `node ${cell.name}: ${cell.state}`,
          },
        ]
      : [],
  };
}

function buildEvictions(taint: string): EvictionOutlook[] {
  return Array.from({ length: podsShown }, (_, index) => ({
    pod: `default/web-${index}`,
    state: 'predicted',
    cause: { kind: 'taint', taint, toleratedSeconds: 30 * index },
    given: 'no-heartbeat',
    when: estimate(20 + 30 * index),
  }));
}

function estimate(inSeconds: number): Estimate {
  return { estimate: true, at: new Date(Date.now() + inSeconds * 1_000).toISOString(), inSeconds };
}
