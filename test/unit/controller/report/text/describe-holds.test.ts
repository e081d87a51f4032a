import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeHold } from '../../../../../src/controller/report/text/describe-holds.ts';
import type { ExplainedHold, Unblocker } from '../../../../../src/controller/report/pages.ts';

const when = { at: '2026-01-02T03:04:05Z', inSeconds: 12, estimate: true } as const;
const asksLeader: readonly Unblocker[] = [{ kind: 'ask-leader', holder: 'other' }];

const holds: readonly (readonly [ExplainedHold, RegExp])[] = [
  [
    { kind: 'not-leader', unblockedBy: asksLeader },
    /^this replica is not the leader: .*; would end: ask the leader, other$/,
  ],
  [{ kind: 'not-leader', unblockedBy: [{ kind: 'ask-leader', holder: null }] }, /; would end: a leader is elected$/],
  [
    { kind: 'shadow', unblockedBy: [{ kind: 'flag', flag: 'shadow', wanted: 'left out' }] },
    /^shadow mode: .*; would end: --shadow left out$/,
  ],
  [
    { kind: 'stale', reason: 'no-contact', unblockedBy: [{ kind: 'contact-with-api' }] },
    /^watch streams are stale \(no-contact\), .*; would end: the API server is reachable again/,
  ],
  [
    {
      kind: 'unconfirmed',
      unblockedBy: [{ kind: 'permission', needed: 'get leases' }, { kind: 'time', when }, { kind: 'api-answers' }],
    },
    /^it looks silent, .*; would end: RBAC grants get leases, or the maximum hold ends in about 12s \(.*\), or the API server answers$/,
  ],
  [
    { kind: 'not-run', part: 'taint-eviction-controller', unblockedBy: asksLeader },
    /^this process does not run the taint-eviction-controller/,
  ],
  [{ kind: 'node-unanswered', node: 'n1', unblockedBy: asksLeader }, /^node n1 could not be read from the API server/],
  [
    { kind: 'full-disruption', unblockedBy: [{ kind: 'nodes-ready', zone: null, count: 1 }] },
    /^all zones are fully disrupted, .*; would end: 1 of the unready nodes of any zone ready again$/,
  ],
  [
    { kind: 'awaited', nodes: ['a-1', 'a-2'], count: 12, unblockedBy: [{ kind: 'heartbeats' }] },
    /^no heartbeat has come from 12 more nodes of its zone since it stopped \(a-1, a-2, \.\.\.\): .*; would end: enough of the others send a heartbeat$/,
  ],
  [
    { kind: 'unclassified', unblockedBy: [{ kind: 'failure-known', when }] },
    /^it is not known yet whether most nodes failed with it, .*; would end: the others have sent one, or are silent too, in about 12s/,
  ],
  [
    {
      kind: 'zone-stopped',
      zone: 'r/a',
      rule: 'normal',
      unblockedBy: [{ kind: 'nodes-ready', zone: 'r/a', count: 2 }],
    },
    /^the eviction rate of zone r\/a is 0 \(normal\); would end: 2 of the unready nodes of zone r\/a ready again$/,
  ],
];

for (const [index, [hold, text]] of holds.entries()) {
  test(`a hold as text: ${hold.kind} (${index})`, () => assert.match(describeHold(hold), text));
}
