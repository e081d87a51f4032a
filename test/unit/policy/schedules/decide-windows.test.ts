import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  NodePolicy,
  PolicyMode,
  PolicySchedule,
  ScheduledSettings,
} from '../../../../src/controller/model/policy.ts';
import { decideWindows } from '../../../../src/policy/schedules/decide-windows.ts';
import { aPolicy } from '../../../support/builders.ts';

const hourMs = 3_600_000;

function aSchedule(set: ScheduledSettings, durationMs = hourMs): PolicySchedule {
  return { cron: '0 8 * * *', timeZone: 'UTC', durationMs, set };
}

/** Each schedule began at 0, and begins again at a day. */
function at(wallMs: number, policy: NodePolicy): ReturnType<typeof decideWindows> {
  return decideWindows(policy, () => ({ startedAtMs: 0, nextAtMs: 24 * hourMs }), wallMs);
}

test('within a window its settings hold, and after it those of the policy', () => {
  const policy = aPolicy({ schedules: [aSchedule({ mode: 'Detect' })] });
  const within = at(hourMs - 1, policy);
  assert.equal(within.policy.mode, 'Detect');
  assert.deepEqual(within.policy.windows, [{ cron: '0 8 * * *', timeZone: 'UTC', untilMs: hourMs }]);
  assert.equal(within.changesAtMs, hourMs);
  assert.deepEqual(at(hourMs, policy), { policy, changesAtMs: 24 * hourMs });
});

test('of several windows the first in the list that sets a field decides it', () => {
  const schedules = [
    aSchedule({ maxEvictionsPerHour: 1 }),
    aSchedule({ mode: 'Paused', maxEvictionsPerHour: 2, maxConcurrentEvictions: 3 }, 2 * hourMs),
    aSchedule({ mode: 'Detect' }),
  ];
  const both = at(1, aPolicy({ schedules })).policy;
  assert.deepEqual([both.mode, both.maxEvictionsPerHour, both.maxConcurrentEvictions], ['Paused', 1, 3]);
  const later = at(hourMs, aPolicy({ schedules })).policy;
  assert.deepEqual([later.mode, later.maxEvictionsPerHour, later.maxConcurrentEvictions], ['Paused', 2, 3]);
});

const modes: readonly (readonly [
  title: string,
  base: PolicyMode,
  windows: readonly [PolicyMode, number][],
  place: number,
  hours: number,
])[] = [
  ['one window', 'Enforce', [['Detect', 1]], 0, 1],
  [
    'two of the same mode: the longer one',
    'Enforce',
    [
      ['Detect', 1],
      ['Detect', 2],
    ],
    0,
    2,
  ],
  [
    'an order that does not count',
    'Enforce',
    [
      ['Detect', 2],
      ['Detect', 1],
    ],
    0,
    2,
  ],
  [
    'another mode after it',
    'Enforce',
    [
      ['Detect', 1],
      ['Paused', 3],
      ['Detect', 5],
    ],
    0,
    1,
  ],
  [
    'another mode that ends before it',
    'Enforce',
    [
      ['Detect', 2],
      ['Paused', 1],
      ['Detect', 5],
    ],
    0,
    5,
  ],
  ['the policy has it anyway', 'Detect', [['Detect', 1]], 0, Infinity],
  [
    'the policy has it anyway, and another window does not',
    'Detect',
    [
      ['Detect', 1],
      ['Enforce', 2],
    ],
    0,
    1,
  ],
];

for (const [title, mode, windows, schedule, hours] of modes) {
  test(`until when a mode is in force: ${title}`, () => {
    const schedules = [
      ...windows.map(([set, lasts]) => aSchedule({ mode: set }, lasts * hourMs)),
      aSchedule({ maxEvictionsPerHour: 1 }, 9 * hourMs),
    ];
    const { modeWindow } = at(1, aPolicy({ mode, schedules })).policy;
    assert.deepEqual(modeWindow, { schedule, untilMs: hours * hourMs });
  });
}

test('limits replace those of the policy one by one', () => {
  const limits = { maxUnhealthy: { percent: 40, count: undefined }, cooldownMs: 600_000, resetAtMs: 7 };
  const maxUnhealthy = { percent: undefined, count: 9 };
  const set = { limits: { maxUnhealthy, overflow: { ratePerHour: 2 } } };
  const merged = at(1, aPolicy({ limits, maxEvictionsPerHour: 5, schedules: [aSchedule(set)] })).policy;
  assert.deepEqual(merged.limits, { maxUnhealthy, cooldownMs: 600_000, resetAtMs: 7, overflow: { ratePerHour: 2 } });
  assert.equal(merged.maxEvictionsPerHour, 5);
  const first = at(1, aPolicy({ schedules: [aSchedule({ limits: { maxUnhealthy } })] })).policy;
  assert.deepEqual(first.limits, { maxUnhealthy, cooldownMs: 300_000, resetAtMs: undefined });
  const other = at(1, aPolicy({ schedules: [aSchedule({ limits: {}, maxEvictionsPerHour: 5 })] })).policy;
  assert.deepEqual([other.limits, other.maxEvictionsPerHour], [undefined, 5]);
});

test('rates replace those of the zones of the policy', () => {
  const zones = { failureDomain: ['rack'], settings: { nodeEvictionRate: 1, podMarkingRate: 5 } };
  const { policy } = at(1, aPolicy({ zones, schedules: [aSchedule({ rates: { nodeEvictionRate: 0 } })] }));
  assert.deepEqual(policy.zones, { failureDomain: ['rack'], settings: { nodeEvictionRate: 0, podMarkingRate: 5 } });
});

test('the next change is the first start or end', () => {
  const schedules = [aSchedule({ mode: 'Detect' }, 2 * hourMs), aSchedule({ maxEvictionsPerHour: 1 })];
  assert.equal(at(1, aPolicy({ schedules })).changesAtMs, hourMs);
  assert.equal(at(hourMs, aPolicy({ schedules })).changesAtMs, 2 * hourMs);
  assert.equal(at(2 * hourMs, aPolicy({ schedules })).changesAtMs, 24 * hourMs);
});
