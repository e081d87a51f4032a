import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildCountdowns, buildShare, describeEnd } from '../../../../src/dashboard/node-page/build-countdowns.ts';
import type { NodeOutlook } from '../../../../src/dashboard/node-page/node-outlook.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const after = (seconds: number): string => new Date(nowMs + seconds * 1_000).toISOString();

function outlookOf(change: Partial<NodeOutlook> = {}): NodeOutlook {
  return {
    node: 'n1',
    ready: 'True',
    lastHeartbeat: { at: after(-8), secondsAgo: 8 },
    grace: { seconds: 50 },
    silence: { since: null, from: { at: after(42) } },
    noExecuteTaint: { key: 'node.kubernetes.io/unreachable', when: { at: after(60) } },
    eviction: null,
    evictions: { scheduled: 0, predicted: 0, first: [] },
    history: [],
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

test('a silent node, and eviction mode', () => {
  const { countdowns } = buildCountdowns(
    outlookOf({
      silence: { since: { at: after(-5), secondsAgo: 5 }, from: null },
      noExecuteTaint: null,
      eviction: { due: null, slot: { at: after(90) } },
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
  const evicted = buildCountdowns(outlookOf({ noExecuteTaint: null, eviction: { due: null, slot: null } }), nowMs);
  assert.equal(evicted.countdowns.length, 1);
  const ofAnotherVersion = buildCountdowns(outlookOf({ noExecuteTaint: null, eviction: { due: null } }), nowMs);
  assert.equal(ofAnotherVersion.countdowns.length, 1);
});

test('each pod runs for as long as it tolerates the taint', () => {
  const taint = 'node.kubernetes.io/unreachable:NoExecute';
  const first = [
    {
      pod: 'default/a',
      state: 'scheduled',
      cause: { kind: 'taint', taint, toleratedSeconds: 300 },
      when: { at: after(100) },
    },
    { pod: 'default/b', state: 'predicted', cause: { kind: 'taint', taint, toleratedSeconds: 0 }, when: { at: null } },
    { pod: 'default/c', state: 'scheduled', cause: { kind: 'node-evicted' }, when: { at: after(7) } },
  ] as const;
  const { countdowns } = buildCountdowns(
    outlookOf({ noExecuteTaint: null, evictions: { scheduled: 2, predicted: 1, first } }),
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
  const outlook = outlookOf({ silence: null, noExecuteTaint: { key: 'k', when: { at: null } } });
  assert.deepEqual(
    buildCountdowns(outlook, nowMs).countdowns.map(({ endMs }) => endMs),
    [null, null],
  );
});

test('the axis contains now and all ends, and at most eight ticks at whole steps from now', () => {
  for (const seconds of [1, 60, 300, 7_200, 1_000_000, 9_000_000]) {
    const outlook = outlookOf({ noExecuteTaint: { key: 'k', when: { at: after(seconds) } } });
    const picture = buildCountdowns(outlook, nowMs);
    assert.ok(picture.startMs < nowMs && picture.endMs > nowMs + seconds * 1_000);
    assert.ok(picture.ticks.length <= 9, `${seconds}: ${picture.ticks.length}`);
    assert.ok(picture.ticks.some(({ atMs, label }) => label === 'now' && atMs === nowMs));
  }
});

test('a node that is silent for hours leaves space for what is next', () => {
  const outlook = outlookOf({ lastHeartbeat: { at: after(-36_000), secondsAgo: 36_000 }, silence: null });
  const { startMs, endMs } = buildCountdowns(outlook, nowMs);
  assert.ok(nowMs - startMs <= Math.max(60_000, endMs - nowMs));
});

test('ticks have their distance from now', () => {
  const outlook = outlookOf({ noExecuteTaint: { key: 'k', when: { at: after(290) } } });
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
