import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerClock } from '../../../../src/dashboard/stream/server-clock.ts';

const later = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();

/** Seconds before the clock of the browser. */
const ahead = (clock: ServerClock): number => Math.round((clock.nowMs() - Date.now()) / 1_000);

test('without a time of the server, its clock is that of the browser', () => {
  const clock = new ServerClock();
  clock.observe(null);
  clock.observe('soon');
  assert.equal(ahead(clock), 0);
});

test('a time that is old when it arrives does not set the clock back', () => {
  const clock = new ServerClock();
  clock.observe(later(600));
  clock.observe(later(590));
  assert.equal(ahead(clock), 600);
  clock.observe(later(603));
  assert.equal(ahead(clock), 603);
});

test('a server whose clock is behind is behind', () => {
  const clock = new ServerClock();
  clock.observe(new Date(Date.now() - 90_000).toUTCString());
  assert.ok(ahead(clock) <= -90 && ahead(clock) >= -92);
});

test('a clock that was set back is followed after two streams', () => {
  const clock = new ServerClock();
  clock.observe(later(600));
  clock.restart();
  clock.observe(later(5));
  assert.equal(ahead(clock), 600);
  clock.restart();
  clock.observe(later(5));
  assert.equal(ahead(clock), 5);
});
