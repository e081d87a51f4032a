import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { SettingChange } from '../../../../src/controller/model/decisions.ts';
import type { NodePolicy } from '../../../../src/controller/model/policy.ts';
import { ScheduledPolicies } from '../../../../src/policy/schedules/scheduled-policies.ts';
import { aPolicy } from '../../../support/builders.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const minuteMs = 60_000;

/** In Detect for the first ten minutes of each hour; a clock that shows a minute before that. */
function aSubject(policies = [hourly()]): {
  clock: ManualClock;
  given: { policies: readonly NodePolicy[] };
  scheduled: ScheduledPolicies<{ readonly policies: readonly NodePolicy[] }>;
  announced: SettingChange[];
} {
  const clock = new ManualClock();
  clock.jumpWall(60 * minuteMs - (clock.nowMs() % (60 * minuteMs)) - minuteMs);
  const subject = { given: { policies } };
  const scheduled = new ScheduledPolicies({ current: () => subject.given }, clock);
  const announced: SettingChange[] = [];
  const stop = new AbortController();
  after(() => stop.abort());
  void (async () => {
    for await (const changes of scheduled.run(stop.signal)) announced.push(...changes);
  })();
  return Object.assign(subject, { clock, scheduled, announced });
}

function hourly(): NodePolicy {
  const set = { mode: 'Detect' } as const;
  return aPolicy({ schedules: [{ cron: '0 * * * *', timeZone: 'UTC', durationMs: 10 * minuteMs, set }] });
}

test('without schedules the settings are the given value', () => {
  const { given, scheduled } = aSubject([aPolicy()]);
  assert.equal(scheduled.current(), given);
});

test('a window begins and ends at its times, each announced once', async () => {
  const { clock, scheduled, announced } = aSubject();
  const mode = (): string | undefined => scheduled.current().policies[0]?.mode;
  await clock.advance(minuteMs - 1);
  assert.deepEqual([mode(), announced.length], ['Enforce', 0]);
  await clock.advance(2);
  assert.deepEqual([mode(), announced.length], ['Detect', 1]);
  assert.match(announced[0]?.to ?? '', /Detect.*in a window 0 \* \* \* \* UTC until /u);
  assert.equal(scheduled.current(), scheduled.current(), 'the value stays the same between two changes');
  await clock.advance(10 * minuteMs);
  assert.deepEqual([mode(), announced.length], ['Enforce', 2]);
});

test('a reader gets what holds at its time, also after a suspend that no timer has noticed', () => {
  const { clock, scheduled } = aSubject();
  clock.jumpWall(2 * minuteMs);
  assert.equal(scheduled.current().policies[0]?.mode, 'Detect');
  clock.jumpWall(-2 * minuteMs);
  assert.equal(scheduled.current().policies[0]?.mode, 'Enforce');
});

test('a step of the wall clock is announced within ten seconds', async () => {
  const { clock, announced } = aSubject();
  await clock.advance(1_000);
  clock.jumpWall(2 * minuteMs);
  await clock.advance(10_001);
  assert.equal(announced.length, 1);
});

test('policies that are given later have their windows, and only these are announced', async () => {
  const subject = aSubject([aPolicy()]);
  const { clock, scheduled, announced } = subject;
  subject.given = { policies: [hourly()] };
  scheduled.noteGiven();
  await clock.advance(minuteMs + 1);
  assert.equal(scheduled.current().policies[0]?.mode, 'Detect');
  assert.equal(announced.length, 1);
  subject.given = { policies: [] };
  scheduled.noteGiven();
  await clock.advance(60 * minuteMs);
  assert.deepEqual([scheduled.current().policies, announced.length], [[], 1]);
});
