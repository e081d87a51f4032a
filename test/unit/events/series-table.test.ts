import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seriesFinishMs } from '../../../src/events/correlate-series.ts';
import { deriveNewerEvent } from '../../../src/events/derive-newer-event.ts';
import { SeriesTable, type SeriesWrite } from '../../../src/events/series-table.ts';
import { aboutNode } from '../../support/event-stand.ts';

const source = { component: 'c', host: 'h' };
const overMs = seriesFinishMs + 1;
let named = 0;

class Watched {
  readonly table: SeriesTable;

  constructor(seriesMax = 10) {
    this.table = new SeriesTable(seriesMax);
  }

  observe(node: string, atMs = 0): SeriesWrite | undefined {
    const event = deriveNewerEvent(aboutNode(node), source, `${node}.${++named}`, 1_000 + atMs);
    return this.table.observe({ event, source, atMs });
  }

  /** What is due, told at once and taken by the server. */
  due(nowMs: number): readonly string[] {
    const told: string[] = [];
    for (let write = this.table.nextDue(nowMs); write !== undefined; write = this.table.nextDue(nowMs)) {
      told.push(`${write.why} ${write.event.regarding.name} ${write.event.series?.count}`);
      this.table.settle(write);
    }
    return told;
  }
}

test('a look finds nothing due in what goes on', () => {
  const watched = new Watched();
  for (let time = 0; time < 3; time++) watched.observe('n1');
  assert.equal(watched.table.look(seriesFinishMs, false), true);
  assert.deepEqual(watched.due(seriesFinishMs), []);
  assert.equal(watched.table.size, 1);
});

test('a look ends what is over: what happened once at once, a series when its count is told', () => {
  const watched = new Watched();
  for (const node of ['once', 'n1', 'n1', 'n1']) watched.observe(node);
  watched.table.look(overMs, false);
  assert.equal(watched.table.size, 1);
  assert.deepEqual(watched.due(overMs), ['finish n1 3']);
  assert.equal(watched.table.size, 0);
});

test('a series whose last count was taken or refused is over; one that could not be told waits for the next look', () => {
  for (const [answered, left] of [
    [true, 0],
    [false, 1],
  ] as const) {
    const watched = new Watched();
    for (const node of ['n1', 'n1']) watched.observe(node);
    watched.table.look(overMs, false);
    const write = watched.table.nextDue(overMs) ?? assert.fail();
    if (answered) watched.table.settle(write);
    assert.equal(watched.table.size, left);
    watched.table.look(overMs, false);
    assert.equal(watched.due(overMs).length, left);
  }
});

test('a look that refreshes tells every series, and nothing that happened once', () => {
  const watched = new Watched();
  for (const node of ['once', 'a', 'a', 'b', 'b', 'b']) watched.observe(node);
  watched.table.look(0, true);
  assert.deepEqual(watched.due(0), ['refresh a 2', 'refresh b 3']);
  assert.equal(watched.table.size, 3);
});

test('a count is the present one when its turn comes', () => {
  const watched = new Watched();
  for (const node of ['n1', 'n1']) watched.observe(node);
  watched.table.look(0, true);
  watched.observe('n1');
  assert.deepEqual(watched.due(0), ['refresh n1 3']);
});

test('nobody looks again before all is told that an earlier look found', () => {
  const watched = new Watched();
  for (const node of ['a', 'a', 'b', 'b']) watched.observe(node);
  assert.equal(watched.table.look(0, true), true);
  watched.table.nextDue(0);
  assert.equal(watched.table.look(0, true), false);
  assert.deepEqual(watched.due(0), ['refresh b 2']);
  assert.equal(watched.table.look(0, true), true);
});

test('what has to go for another is told if its count is not', () => {
  const watched = new Watched(1);
  const second = [watched.observe('a'), watched.observe('a')][1] ?? assert.fail();
  watched.table.settle(second);
  watched.observe('b');
  assert.deepEqual(watched.due(0), []);
  for (const node of ['b', 'b', 'c']) watched.observe(node);
  assert.deepEqual(watched.due(0), ['gone b 3']);
  assert.equal(watched.table.size, 1);
});

test('the rest at the end: every count that the server has not heard, once', () => {
  const watched = new Watched(3);
  for (const node of ['gone', 'gone', 'once', 'a', 'a', 'b']) watched.observe(node);
  const second = watched.observe('b') ?? assert.fail();
  watched.table.settle(second);
  watched.table.look(0, true);
  watched.table.planRest();
  assert.deepEqual(watched.due(0), ['gone gone 2', 'refresh a 2']);
  watched.table.planRest();
  assert.deepEqual(watched.due(0), []);
});

test('an answer about an event that was forgotten meanwhile says nothing of the one that came after it', () => {
  const watched = new Watched(1);
  watched.observe('a');
  const write = watched.observe('a') ?? assert.fail();
  watched.observe('b');
  for (let time = 0; time < 2; time++) watched.observe('a');
  watched.table.settle(write);
  watched.table.planRest();
  assert.ok(watched.due(0).includes('refresh a 2'));
});
