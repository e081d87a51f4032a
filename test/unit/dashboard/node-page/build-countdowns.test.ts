import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildCountdowns, buildShare, describeEnd } from '../../../../src/dashboard/node-page/build-countdowns.ts';
import type { Estimate, NodeOutlook } from '../../../../src/controller/report/pages.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const after = (seconds: number): string => new Date(nowMs + seconds * 1_000).toISOString();

type CountdownSource = Parameters<typeof buildCountdowns>[0];

const estimate = (seconds: number | null): Estimate => {
  return { estimate: true, at: seconds === null ? null : after(seconds), inSeconds: seconds };
};
const tainted = (seconds: number | null, key = 'k'): NodeOutlook['noExecuteTaint'] => {
  return { key, given: 'no-heartbeat', when: estimate(seconds) };
};
const noEvictions = { scheduled: 0, predicted: 0, spared: 0, first: [] };
const heartbeat = (secondsAgo: number) => ({ at: after(-secondsAgo), secondsAgo, channel: 'lease' }) as const;

function outlookOf(change: Partial<CountdownSource> = {}): CountdownSource {
  return {
    lastHeartbeat: heartbeat(8),
    grace: { seconds: 50, rule: 'monitor', flag: 'node-monitor-grace-period', policy: null },
    silence: { silent: false, since: null, from: estimate(42) },
    noExecuteTaint: tainted(60, 'node.kubernetes.io/unreachable'),
    eviction: null,
    evictions: noEvictions,
    ...change,
  };
}

test('the heartbeat runs from its arrival to the silence, the taint from the silence to its estimate', () => {
  const { countdowns } = buildCountdowns(outlookOf(), nowMs);
  assert.deepEqual(countdowns, [
    {
      kind: 'heartbeat',
      label: 'Last heartbeat to silence',
      startMs: nowMs - 8_000,
      endMs: nowMs + 42_000,
      note: 'grace period 50s',
    },
    {
      kind: 'taint',
      label: 'NoExecute taint',
      startMs: nowMs + 42_000,
      endMs: nowMs + 60_000,
      note: 'estimate, node.kubernetes.io/unreachable',
    },
  ]);
});

const evictedAt = (seconds: number | null): NodeOutlook['eviction'] => {
  const slot = seconds === null ? null : estimate(seconds);
  return { mark: 'to-be-evicted', due: null, slot, given: 'nothing-changes' };
};

test('a silent node, and eviction mode', () => {
  const { countdowns } = buildCountdowns(
    outlookOf({
      silence: { silent: true, since: { at: after(-5), secondsAgo: 5 }, from: null },
      noExecuteTaint: null,
      eviction: evictedAt(90),
    }),
    nowMs,
  );
  assert.deepEqual(
    countdowns.map(({ label, endMs, note }) => [label, endMs, note]),
    [
      ['Last heartbeat to silence', nowMs - 5_000, 'silent since then'],
      ['Eviction of the node', nowMs + 90_000, 'estimate'],
    ],
  );
  const evicted = buildCountdowns(outlookOf({ noExecuteTaint: null, eviction: evictedAt(null) }), nowMs);
  assert.equal(evicted.countdowns.length, 1);
});

test('each pod runs for as long as it tolerates the taint', () => {
  const taint = 'node.kubernetes.io/unreachable:NoExecute';
  const first = [
    {
      pod: 'default/a',
      state: 'scheduled',
      cause: { kind: 'taint', taint, toleratedSeconds: 300 },
      given: 'nothing-changes',
      when: estimate(100),
    },
    {
      pod: 'default/b',
      state: 'predicted',
      cause: { kind: 'taint', taint, toleratedSeconds: 0 },
      given: 'nothing-changes',
      when: estimate(null),
    },
    {
      pod: 'default/c',
      state: 'scheduled',
      cause: { kind: 'node-evicted' },
      given: 'nothing-changes',
      when: estimate(7),
    },
  ] as const;
  const { countdowns } = buildCountdowns(
    outlookOf({ noExecuteTaint: null, evictions: { ...noEvictions, scheduled: 2, predicted: 1, first } }),
    nowMs,
  );
  assert.deepEqual(
    countdowns.slice(1).map(({ startMs, endMs, note }) => [startMs, endMs, note]),
    [
      [nowMs - 200_000, nowMs + 100_000, 'scheduled, tolerated for 5m 00s'],
      [null, null, 'predicted, not tolerated'],
      [nowMs + 7_000, nowMs + 7_000, 'scheduled, with its node'],
    ],
  );
});

test('a node that is not evaluated yet has no countdown', () => {
  const outlook = outlookOf({ lastHeartbeat: null, grace: null, silence: null, noExecuteTaint: null });
  assert.deepEqual(buildCountdowns(outlook, nowMs).countdowns, []);
});

test('an estimate without a cause has no time', () => {
  const outlook = outlookOf({ silence: null, noExecuteTaint: tainted(null) });
  assert.deepEqual(
    buildCountdowns(outlook, nowMs).countdowns.map(({ endMs }) => endMs),
    [null, null],
  );
});

test('the axis contains now and all ends, and at most eight ticks at whole steps from now', () => {
  for (const seconds of [1, 60, 300, 7_200, 1_000_000, 9_000_000]) {
    const outlook = outlookOf({ noExecuteTaint: tainted(seconds) });
    const picture = buildCountdowns(outlook, nowMs);
    assert.ok(picture.startMs < nowMs && picture.endMs > nowMs + seconds * 1_000);
    assert.ok(picture.ticks.length <= 9, `${seconds}: ${picture.ticks.length}`);
    assert.ok(picture.ticks.some(({ atMs, label }) => label === 'now' && atMs === nowMs));
  }
});

test('a node that is silent for hours leaves space for what is next', () => {
  const outlook = outlookOf({ lastHeartbeat: heartbeat(36_000), silence: null });
  const { startMs, endMs } = buildCountdowns(outlook, nowMs);
  assert.ok(nowMs - startMs <= Math.max(60_000, endMs - nowMs));
});

test('ticks have their distance from now', () => {
  const outlook = outlookOf({ noExecuteTaint: tainted(290) });
  assert.deepEqual(
    buildCountdowns(outlook, nowMs).ticks.map(({ label }) => label),
    ['now', '+1m', '+2m', '+3m', '+4m'],
  );
});

test('places on the axis', () => {
  const axis = { startMs: 100, endMs: 200 };
  assert.deepEqual(
    [0, 100, 150, 300].map((atMs) => buildShare(axis, atMs)),
    [0, 0, 0.5, 1],
  );
});

test('an end in words', () => {
  assert.equal(describeEnd(null, nowMs), 'not in the current state');
  assert.deepEqual(
    [42_000, 0, -500, -185_000].map((ms) => describeEnd(nowMs + ms, nowMs)),
    ['in 0:42', 'now', 'now', '3m 05s ago'],
  );
});
