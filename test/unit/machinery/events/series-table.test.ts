import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seriesFinishMs } from '../../../../src/machinery/events/correlate-series.ts';
import { toEventsV1 } from '../../../../src/machinery/events/to-events-v1.ts';
import { SeriesTable, type SeriesWrite } from '../../../../src/machinery/events/series-table.ts';
import { aboutNode } from '../../../support/event-stand.ts';

const source = { component: 'c', host: 'h' };
const overMs = seriesFinishMs + 1;
let named = 0;

class Watched {
  readonly table: SeriesTable;

  constructor(seriesMax = 10) {
    this.table = new SeriesTable(seriesMax);
  }

  observe(node: string, atMs = 0): SeriesWrite | undefined {
    const event = toEventsV1(aboutNode(node), source, `${node}.${++named}`, 1_000 + atMs);
    return this.table.observe({ event, source, atMs });
  }

  /** Writes the counts that are due; the server accepts each at once. */
  due(nowMs: number): readonly string[] {
    const writes: string[] = [];
    for (let write = this.table.nextDue(nowMs); write !== undefined; write = this.table.nextDue(nowMs)) {
      writes.push(`${write.why} ${write.event.regarding.name} ${write.event.series?.count}`);
      this.table.settle(write);
    }
    return writes;
  }
}

test('a check schedules nothing for active series', () => {
  const watched = new Watched();
  for (let time = 0; time < 3; time++) watched.observe('n1');
  assert.equal(watched.table.check(seriesFinishMs, false), true);
  assert.deepEqual(watched.due(seriesFinishMs), []);
  assert.equal(watched.table.size, 1);
});

test('a check deletes a single event at once, and a series once its count is written', () => {
  const watched = new Watched();
  for (const node of ['once', 'n1', 'n1', 'n1']) watched.observe(node);
  watched.table.check(overMs, false);
  assert.equal(watched.table.size, 1);
  assert.deepEqual(watched.due(overMs), ['finish n1 3']);
  assert.equal(watched.table.size, 0);
});

test('a series whose last count was accepted or rejected is deleted; an unreachable one is scheduled by the next check', () => {
  for (const [answered, left] of [
    [true, 0],
    [false, 1],
  ] as const) {
    const watched = new Watched();
    for (const node of ['n1', 'n1']) watched.observe(node);
    watched.table.check(overMs, false);
    const write = watched.table.nextDue(overMs) ?? assert.fail();
    if (answered) watched.table.settle(write);
    assert.equal(watched.table.size, left);
    watched.table.check(overMs, false);
    assert.equal(watched.due(overMs).length, left);
  }
});

test('a refresh schedules every series, but no single events', () => {
  const watched = new Watched();
  for (const node of ['once', 'a', 'a', 'b', 'b', 'b']) watched.observe(node);
  watched.table.check(0, true);
  assert.deepEqual(watched.due(0), ['refresh a 2', 'refresh b 3']);
  assert.equal(watched.table.size, 3);
});

test('a count is read when it is written', () => {
  const watched = new Watched();
  for (const node of ['n1', 'n1']) watched.observe(node);
  watched.table.check(0, true);
  watched.observe('n1');
  assert.deepEqual(watched.due(0), ['refresh n1 3']);
});

test('a check does nothing while counts of an earlier check are pending', () => {
  const watched = new Watched();
  for (const node of ['a', 'a', 'b', 'b']) watched.observe(node);
  assert.equal(watched.table.check(0, true), true);
  watched.table.nextDue(0);
  assert.equal(watched.table.check(0, true), false);
  assert.deepEqual(watched.due(0), ['refresh b 2']);
  assert.equal(watched.table.check(0, true), true);
});

test('an evicted series is scheduled if its count is not written', () => {
  const watched = new Watched(1);
  const second = [watched.observe('a'), watched.observe('a')][1] ?? assert.fail();
  watched.table.settle(second);
  watched.observe('b');
  assert.deepEqual(watched.due(0), []);
  for (const node of ['b', 'b', 'c']) watched.observe(node);
  assert.deepEqual(watched.due(0), ['gone b 3']);
  assert.equal(watched.table.size, 1);
});

test('planRest schedules every unwritten count once', () => {
  const watched = new Watched(3);
  for (const node of ['gone', 'gone', 'once', 'a', 'a', 'b']) watched.observe(node);
  const second = watched.observe('b') ?? assert.fail();
  watched.table.settle(second);
  watched.table.check(0, true);
  watched.table.scheduleAll();
  assert.deepEqual(watched.due(0), ['gone gone 2', 'refresh a 2']);
  watched.table.scheduleAll();
  assert.deepEqual(watched.due(0), []);
});

test('the result of an evicted series does not affect its successor', () => {
  const watched = new Watched(1);
  watched.observe('a');
  const write = watched.observe('a') ?? assert.fail();
  watched.observe('b');
  for (let time = 0; time < 2; time++) watched.observe('a');
  watched.table.settle(write);
  watched.table.scheduleAll();
  assert.ok(watched.due(0).includes('refresh a 2'));
});
